"""The impact of a decision: titles of the last bulk run that another model answers differently.

Both models answer the most frequent titles of that run, with the parameters of the run. The page
shows the impact beside a decision, which does not depend on it: nobody knows which answer is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from models.normalizer.normalizer import Normalizer
from tasks.release.gate.last_run import LastRun

MOST_QUERIED = 2000  # distinct titles, the most frequent ones
MOST_NAMED = 200  # titles that are named, the most frequent of those that change
PARAMS = ("min_confidence", "code_depth")
"""Of a run: those that change its answers, not only how many stand behind the first."""


@dataclass(frozen=True)
class Changed:
    """A title with another answer; the labels are None where the model abstains."""

    raw_title: str
    rows: int
    before: str | None
    after: str | None


@dataclass(frozen=True)
class Impact:
    """How the answers to the last run's titles change."""

    model: str  # address of the version that answered that run
    run_rows: int  # rows of that run
    read_rows: int  # how many of them were read; the other figures count these
    queried_titles: int  # how many of its titles were queried, the most frequent ones
    queried_rows: int  # the rows of these
    changed_titles: int  # how many of them get another occupation, one for none, or none for one
    changed_rows: int  # the rows of these
    changed: list[Changed]  # the `MOST_NAMED` most frequent of them


def impact(run: LastRun, before: Normalizer, after: Normalizer) -> Impact | None:
    """Compare the answers of both models to the titles of a run.

    Returns:
        None if one of the two cannot answer with the parameters of the run.
    """
    titles = run.titles.head(MOST_QUERIED)
    raw_titles, rows = titles["raw_title"].to_list(), titles["rows"].to_list()
    params = {name: run.params[name] for name in PARAMS if name in run.params}
    try:
        was, now = (_first_answers(model, raw_titles, params) for model in (before, after))
    except (ValueError, TypeError, AttributeError) as error:  # such as an older model's
        print(f"the impact on the last bulk run is unknown: {error}", flush=True)
        return None
    changed = [
        Changed(title, count, label_before, label_after)
        for title, count, (id_before, label_before), (id_after, label_after) in zip(
            raw_titles, rows, was, now, strict=True
        )
        if id_before != id_after
    ]
    return Impact(
        model=run.model,
        run_rows=run.rows,
        read_rows=run.read_rows,
        queried_titles=len(raw_titles),
        queried_rows=sum(rows),
        changed_titles=len(changed),
        changed_rows=sum(one.rows for one in changed),
        changed=changed[:MOST_NAMED],
    )


def _first_answers(
    model: Normalizer, titles: Sequence[str], params: Mapping[str, Any]
) -> list[tuple[str | None, str | None]]:
    """Return the occupation_id and label of each title; None where the model abstains."""
    columns = model.predict(titles, **params).columns
    names = ("occupation_id", "occupation_label")
    return list(zip(*(columns[name].tolist() for name in names), strict=True))
