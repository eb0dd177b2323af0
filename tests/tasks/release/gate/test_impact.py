"""Which titles of a run get another answer, with two models that know their answers by heart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from served_toy import toy_normalizer

from tasks.release.gate import impact as affecting
from tasks.release.gate.impact import Impact, impact
from tasks.release.gate.last_run import TITLES, LastRun


class ByHeart:
    """Answers from its list, and abstains otherwise."""

    def __init__(self, answers: Mapping[str, str]) -> None:
        self.answers = answers
        self.asked: list[Any] = []

    def predict(self, titles: Sequence[str], **params: Any) -> SimpleNamespace:
        self.asked.append(params)
        ids = [self.answers.get(title) for title in titles]
        labels = [name.title() if name else None for name in ids]
        columns = {"occupation_id": ids, "occupation_label": labels}
        return SimpleNamespace(
            table=pa.table(columns, pa.schema([(k, pa.string()) for k in columns]))
        )


def run_of(rows: Mapping[str, int], total: int, digits: int = 0, **params: Any) -> LastRun:
    titles = pl.DataFrame([*rows.items()], schema=dict(TITLES), orient="row")
    return LastRun("models:/toy/3", params, 2 * total, total, titles, digits)


RUN = {"rn": 50, "chef": 40, "bread": 30, "xx": 20, "sister": 10}


def test_rows_count_where_the_occupation_differs_or_one_abstains() -> None:
    """Chef 40 gets another, bread 30 none, xx 20 one; rn stays, and sister has none twice."""
    before = ByHeart({"rn": "nurse", "chef": "waiter", "bread": "baker"})
    after = ByHeart({"rn": "nurse", "chef": "cook", "xx": "clerk"})
    measured = impact(run_of(RUN, 200), before, after)  # type: ignore[arg-type]
    changed = [
        {"raw_title": "chef", "rows": 40, "before": "Waiter", "after": "Cook"},
        {"raw_title": "bread", "rows": 30, "before": "Baker", "after": None},
        {"raw_title": "xx", "rows": 20, "before": None, "after": "Clerk"},
    ]
    assert measured == Impact("models:/toy/3", 400, 200, 5, 150, 3, 90, changed)


def test_the_most_frequent_titles_are_asked_and_fewer_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of five titles three are asked (50 + 40 + 30 rows), of three that change one is named."""
    monkeypatch.setattr(affecting, "MOST_QUERIED", 3)
    monkeypatch.setattr(affecting, "MOST_NAMED", 1)
    after = ByHeart(dict.fromkeys(RUN, "pilot"))
    measured = impact(run_of(RUN, 150), ByHeart({}), after)  # type: ignore[arg-type]
    named = {"raw_title": "rn", "rows": 50, "before": None, "after": "Pilot"}
    assert measured == Impact("models:/toy/3", 300, 150, 3, 120, 3, 120, [named])


def test_the_run_s_own_parameters_are_asked_but_for_the_length_of_lists() -> None:
    model = ByHeart({})
    run = run_of(RUN, 150, top_k=7, min_confidence=0.4, code_depth=2)
    impact(run, model, model)  # type: ignore[arg-type]
    assert model.asked == [{"min_confidence": 0.4, "code_depth": 2}] * 2


def test_a_model_that_cannot_be_asked_so_ends_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The toy is not calibrated, so that nobody can mean a confidence."""
    model = toy_normalizer()
    assert impact(run_of(RUN, 150, min_confidence=0.5), model, model) is None
    assert "the impact on the last bulk run is unknown: " in capsys.readouterr().out


def test_a_model_against_itself_changes_nothing() -> None:
    model = toy_normalizer()
    measured = impact(run_of({"baker": 3, "": 2, "keeper": 1}, 6), model, model)
    assert measured == Impact("models:/toy/3", 12, 6, 3, 6, 0, 0, [])
