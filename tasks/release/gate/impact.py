"""Who is affected by a decision: titles of the last bulk run to which another model says otherwise.

The most frequent titles of that run are asked of both models as consumers ask them, with the
parameters of the run. It is told beside a decision and takes no part in it: nothing says here which
of two answers is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from models.normalizer.normalizer import Normalizer
from tasks.release.gate.last_run import LastRun

ASKED = 2000
"""Distinct titles, the most frequent ones."""
OVERRIDES = 200
"""Titles that are named, the most frequent of those that change."""
PARAMS = ("min_confidence", "levels")
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
    """What becomes of the last run's titles.

    Attributes:
        model: address of the version that answered that run.
        run_rows: rows of that run.
        read_rows: how many of them were looked at; the others of these figures are of them.
        asked_titles: how many of its titles were asked, the most frequent ones.
        asked_rows: the rows of these.
        changed_titles: how many of them get another occupation, one for none, or none for one.
        changed_rows: the rows of these.
        changed: the `OVERRIDES` most frequent of them.
    """

    model: str
    run_rows: int
    read_rows: int
    asked_titles: int
    asked_rows: int
    changed_titles: int
    changed_rows: int
    changed: list[Changed]


class _Said(NamedTuple):
    """A first answer."""

    occupation_id: str | None
    label: str | None


def impact(run: LastRun, before: Normalizer, after: Normalizer) -> Impact | None:
    """Ask both models the titles of a run.

    Args:
        run: the last one.
        before: what answers now.
        after: what would answer instead.

    Returns:
        what changes, or None if one of the two cannot be asked with the parameters of the run.
    """
    titles = run.titles.head(ASKED)
    raw_titles, rows = titles["raw_title"].to_list(), titles["rows"].to_list()
    params = {name: run.params[name] for name in PARAMS if name in run.params}
    try:
        was, now = (_said(model, raw_titles, params) for model in (before, after))
    except (ValueError, TypeError, AttributeError) as error:  # such as an older model's
        print(f"who is affected is not told: {error}", flush=True)
        return None
    changed = [
        Changed(title, count, first.label, second.label)
        for title, count, first, second in zip(raw_titles, rows, was, now, strict=True)
        if first.occupation_id != second.occupation_id
    ]
    return Impact(
        model=run.model,
        run_rows=run.rows,
        read_rows=run.read_rows,
        asked_titles=len(raw_titles),
        asked_rows=sum(rows),
        changed_titles=len(changed),
        changed_rows=sum(one.rows for one in changed),
        changed=changed[:OVERRIDES],
    )


def _said(model: Normalizer, titles: Sequence[str], params: Mapping[str, Any]) -> list[_Said]:
    columns = model.predict(titles, **params).columns
    ids, labels = columns["occupation_id"].tolist(), columns["occupation_label"].tolist()
    return [_Said(*answer) for answer in zip(ids, labels, strict=True)]
