"""Titles of random rows that two models answer differently."""

from __future__ import annotations

import pytest
from served_toy import toy_normalizer
from test_impact import ByHeart, run_of

from tasks.release.gate import disputed as disputing
from tasks.release.gate.disputed import Disputed, disputed

ROWS = {f"t{number}": 1 + 8 * (number % 2) for number in range(400)}


def test_titles_are_drawn_by_their_rows_and_not_by_their_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 100 drawn titles some nine of ten have nine rows; half of them get another answer."""
    monkeypatch.setattr(disputing, "SAMPLED", 100)
    changed = {title for title in ROWS if int(title[1:]) % 4 < 2}
    before = ByHeart(dict.fromkeys(ROWS, "cook"))
    after = ByHeart({title: "chef" for title in ROWS if title in changed})
    for run in (run_of(ROWS, 2000), run_of(dict(sorted(ROWS.items())), 2000)):
        both = disputed(run, before, after)  # type: ignore[arg-type]
        everything = disputed(run, before, ByHeart({}))  # type: ignore[arg-type]
        assert both is not None and everything is not None
        drawn = [title for title, _ in everything.titles]
        assert len(set(drawn)) == 100 and both.queried == 100
        assert 75 < sum(ROWS[title] == 9 for title in drawn) < 100
    others = dict(both.titles)
    assert list(others) == drawn, "an abstention is another answer"
    assert {title for title, other in others.items() if other == "chef"} == changed & set(drawn)


def test_another_run_draws_other_titles(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same titles came in: of 400, a tenth of the 40 drawn before are drawn by chance."""
    monkeypatch.setattr(disputing, "SAMPLED", 40)
    rows = dict.fromkeys(ROWS, 1)
    models = ByHeart(dict.fromkeys(ROWS, "cook")), ByHeart({})
    samples = [disputed(run_of(rows, 400, digits), *models) for digits in (7, 0x5EED5EED)]  # type: ignore[arg-type]
    one, other = ({title for title, _ in sample.titles} for sample in samples if sample)
    assert len(one) == len(other) == 40 and len(one & other) < 12


def test_equal_models_differ_nowhere() -> None:
    model = toy_normalizer()
    sample = disputed(run_of({"baker": 3, "": 2, "keeper": 1}, 6), model, model)
    assert sample == Disputed(3, []) and sample.share == 0


def test_the_runs_least_confidence_makes_no_difference() -> None:
    """Two models with one first answer, of which one is surer, are equal in the gate's test."""
    models = ByHeart({}), ByHeart({})
    run = run_of(ROWS, 400, min_confidence=0.5, code_depth=2)
    assert disputed(run, *models) == Disputed(400, [])  # type: ignore[arg-type]
    assert [model.asked for model in models] == 2 * [[{"code_depth": 2}]]


def test_a_model_that_cannot_be_asked_so_has_none() -> None:
    model = toy_normalizer()
    assert disputed(run_of(ROWS, 9, code_depth=99), model, model) is None
