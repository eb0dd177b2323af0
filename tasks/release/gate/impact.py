"""The impact of a decision: titles of the last bulk run that another model answers differently.

Both models answer the most frequent titles of that run, with the parameters of the run. The page
shows the impact beside a decision, which does not depend on it: nobody knows which answer is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa

from models.normalizer.normalizer import Normalizer
from tasks.release.gate.last_run import LastRun

MOST_QUERIED = 2000  # distinct titles, the most frequent ones
MOST_NAMED = 200  # titles that are named, the most frequent of those that change
PARAMS = ("min_confidence", "code_depth")
"""Of a run: those that change its answers, not only how many stand behind the first."""


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
    changed: list[dict[str, Any]]
    """The `MOST_NAMED` most frequent of them: `raw_title`, `rows`, and the labels `before` and
    `after`, None where the model abstains."""


def impact(run: LastRun, before: Normalizer, after: Normalizer) -> Impact | None:
    """Compare both models on a run; None if one cannot answer with the run's parameters."""
    titles = run.titles.head(MOST_QUERIED)
    answers = both_answers(run, titles["raw_title"].to_list(), before, after)
    if answers is None:
        return None
    was, now = answers
    labels = [
        pl.Series(name, table["occupation_label"].to_pylist(), pl.String)
        for name, table in (("before", was), ("after", now))
    ]
    before_ids, after_ids = (
        pl.Series(table["occupation_id"].to_pylist(), dtype=pl.String) for table in (was, now)
    )
    is_changed = before_ids.ne_missing(after_ids)
    changed = titles.with_columns(labels).filter(is_changed)
    return Impact(
        model=run.model,
        run_rows=run.rows,
        read_rows=run.read_rows,
        queried_titles=len(titles),
        queried_rows=int(titles["rows"].sum()),
        changed_titles=len(changed),
        changed_rows=int(changed["rows"].sum()),
        changed=changed.head(MOST_NAMED).to_dicts(),
    )


def both_answers(
    run: LastRun, raw_titles: list[str], before: Normalizer, after: Normalizer
) -> tuple[pa.Table, pa.Table] | None:
    """Return both models' answers with the parameters of a run; None if one cannot give them."""
    params = {name: run.params[name] for name in PARAMS if name in run.params}
    try:
        was, now = (model.predict(raw_titles, **params).table for model in (before, after))
    except (ValueError, TypeError, AttributeError) as error:  # a model of another release
        print(f"the impact on the last bulk run is unknown: {error}", flush=True)
        return None
    return was, now
