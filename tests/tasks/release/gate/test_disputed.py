"""Titles of random rows that two models answer differently, and the version that waits."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from served_toy import toy_normalizer
from test_impact import ByHeart, run_of

from tasks.io.files import write_json
from tasks.release.gate import disputed as disputing
from tasks.release.gate.disputed import (
    FILE,
    TITLES,
    disputed,
    note_that_none_waits,
    read_disputed,
    waiting_version,
    write_waiting,
)

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
        drawn = [title for title, _ in everything["titles"]]
        assert len(set(drawn)) == 100 and both["queried"] == 100
        assert 75 < sum(ROWS[title] == 9 for title in drawn) < 100
    others = dict(both["titles"])
    assert list(others) == drawn, "an abstention is another answer"
    assert {title for title, other in others.items() if other == "chef"} == changed & set(drawn)


def test_another_run_draws_other_titles(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same titles came in: of 400, a tenth of the 40 drawn before are drawn by chance."""
    monkeypatch.setattr(disputing, "SAMPLED", 40)
    rows = dict.fromkeys(ROWS, 1)
    models = ByHeart(dict.fromkeys(ROWS, "cook")), ByHeart({})
    samples = [disputed(run_of(rows, 400, digits), *models) for digits in (7, 0x5EED5EED)]  # type: ignore[arg-type]
    one, other = ({title for title, _ in sample["titles"]} for sample in samples if sample)
    assert len(one) == len(other) == 40 and len(one & other) < 12


def test_the_runs_least_confidence_makes_no_difference() -> None:
    """Two models with one first answer, of which one is surer, are equal in the gate's test."""
    models, toy = (ByHeart({}), ByHeart({})), toy_normalizer()
    run = run_of(ROWS, 400, min_confidence=0.5, code_depth=2)
    assert disputed(run, *models) == {"queried": 400, "titles": []}  # type: ignore[arg-type]
    assert [model.asked for model in models] == 2 * [[{"code_depth": 2}]]
    assert disputed(run_of(ROWS, 9, code_depth=99), toy, toy) is None, "it cannot be asked so"


def test_what_the_review_reads(tmp_path: Path) -> None:
    """One row a normalized title, in the order of the draw; none without a decision."""
    assert read_disputed(tmp_path).is_empty() and waiting_version(tmp_path) is None
    titles = [["Cook!", "a"], ["Nurse", None], ["cook", "b"]]
    for rows in ([], titles):
        write_waiting(tmp_path, "7", {"queried": 5, "titles": rows})
        made = read_disputed(tmp_path)
        assert dict(made.schema) == dict(TITLES) and waiting_version(tmp_path) == "7"
    assert made.rows() == [("Cook!", "cook", 0, "a"), ("Nurse", "nurse", 1, None)]
    assert made["other_occupation_id"].dtype == pl.String
    note_that_none_waits(tmp_path)
    assert read_disputed(tmp_path).is_empty() and waiting_version(tmp_path) is None


@pytest.mark.parametrize(
    ("version", "corrects", "titles"),
    [("7", None, ["Cook!"]), ("8", "7", ["Cook!"]), ("8", None, []), ("9", "8", [])],
)
def test_a_version_waits_without_a_bulk_run(
    tmp_path: Path, version: str, corrects: str | None, titles: list[str]
) -> None:
    """Replies on titles of random rows may decide; earlier titles of the same network stay."""
    write_waiting(tmp_path, "7", {"queried": 5, "titles": [["Cook!", "a"]]})
    write_waiting(tmp_path, version, None, corrects)
    assert waiting_version(tmp_path) == version
    assert read_disputed(tmp_path)["raw_title"].to_list() == titles


def test_titles_of_an_earlier_rolecall_name_no_version(tmp_path: Path) -> None:
    write_json({"queried": 5, "titles": [["Cook!", "a"]]}, tmp_path / FILE)
    assert waiting_version(tmp_path) is None and len(read_disputed(tmp_path)) == 1
    write_waiting(tmp_path, "8", None)
    assert waiting_version(tmp_path) == "8" and read_disputed(tmp_path).is_empty()


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    write_waiting(tmp_path, "7", None)
    (tmp_path / FILE).write_text('{"queried": 0, "tit')
    with pytest.raises(ValueError, match=f"{FILE} is damaged .* Delete it"):
        waiting_version(tmp_path)
