"""Halves of the job board, what its titles and labels add, and a small run of the whole."""

from __future__ import annotations

import csv
from argparse import Namespace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_workspace import JOBS

from benchmarks.studies.champion import measure as champion
from benchmarks.studies.champion.evidence import counted_prior, expected_prior, softmax, votes
from benchmarks.studies.champion.titles import COLUMNS, FILE, read_halves
from models.answer.index import AliasIndex

INDEX = AliasIndex.of(["a", "b"], ["o0", "o1"])
OPTIONS = Namespace(
    asked=["choice", "odd"],
    steps=8,
    batch=6,
    seeds=2,
    processes=1,
    share=0.2,
    prior_temperature=0.05,
    prior_weight=0.05,
    temperature=0.06,
    prior_power=0.5,
    nearest=3,
    vote_temperature=0.08,
    vote_share=0.5,
)


def write_board(folder: Path, rows: list[tuple[str, str]]) -> None:
    (folder / FILE).parent.mkdir(parents=True, exist_ok=True)
    with (folder / FILE).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS.values())
        writer.writerows(rows)


def test_a_title_stands_on_one_side_alone(tmp_path: Path) -> None:
    titles = [f"Title {number}" for number in range(400)]
    write_board(tmp_path, [(t, "o0") for t in titles] + [(f"({t}) ", "o1") for t in titles])
    write_rows = {name: read_halves(tmp_path, INDEX, name) for name in ("odd", "choice")}
    for halves in write_rows.values():
        sides = [set(side["normalized"]) for side in halves]
        assert not sides[0] & sides[1]
        assert all(len(side) == 2 * len(names) for side, names in zip(halves, sides, strict=True))
    odd, choice = write_rows["odd"], write_rows["choice"]
    assert len(odd.given) + len(odd.asked) == 800
    assert 300 < len(odd.asked) < 500
    assert set(odd.given["query_id"]) == {*choice.given["query_id"], *choice.asked["query_id"]}
    assert 0.1 < len(choice.asked) / len(odd.given) < 0.3


def test_the_prior_of_bare_titles_by_hand() -> None:
    """Scores 0 and t·log 3 are chances of 1/4 and 3/4, equal ones of 1/2."""
    scores = np.array([[0, 0.05 * np.log(3)], [0.2, 0.2]])
    assert expected_prior(scores, 0.05) == pytest.approx([3 / 8, 5 / 8], abs=2e-6)
    assert counted_prior(np.array([0, 0, 2]), 3) == pytest.approx(
        np.array([2.2, 0.2, 1.2]) / 3.6, rel=1e-12
    )


@given(
    st.lists(st.lists(st.integers(-9, 9), min_size=4, max_size=4), min_size=1, max_size=4),
    st.lists(st.integers(0, 2), min_size=4, max_size=4),
    st.integers(1, 6),
)
def test_votes_equal_the_loop(rows: list[list[int]], labels: list[int], nearest: int) -> None:
    similarities = np.array(rows) / 10
    made = votes(similarities, np.array(labels), 3, nearest, 0.08)
    for row, shares in zip(similarities.tolist(), made, strict=True):
        close = sorted(range(4), key=lambda place: -row[place])[:nearest]
        weights = [np.exp(row[place] / 0.08) for place in close]
        expected = [0.0, 0.0, 0.0]
        for place, weight in zip(close, weights, strict=True):
            expected[labels[place]] += weight / sum(weights)
        assert shares == pytest.approx(expected, abs=1e-9)


def test_softmax_does_not_overflow() -> None:
    (chances,) = softmax(np.array([[1e4, 1e4 - np.log(3)]]))
    assert chances == pytest.approx([0.75, 0.25])


def test_a_study_on_a_toy(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every setting has every metric, of each seed and of all; the lexical systems have one."""
    board = [(f"{front} {job}", f"o{k}") for k, job in enumerate(JOBS) for front in "abcdefghijklm"]
    write_board(tmp_path, board)
    monkeypatch.setattr(champion, "data_folder", lambda: tmp_path)
    monkeypatch.setattr(champion.Workspace, "mix", "3")
    options = Namespace(**vars(OPTIONS), kept=tmp_path / "kept")
    (made,) = champion.measure("sample", options)
    table = pl.DataFrame(made, orient="row", schema=list(champion.Row._fields))
    settings = {"zero_label", "unlabelled", "feedback"}
    names = {f"{asked}/{setting}" for asked in OPTIONS.asked for setting in settings}
    assert set(table.filter(system="champion")["test"]) == names
    assert set(table["metric"]) == {"success_at_1", "success_at_5", "success_at_10", "mrr"}
    assert table.filter(system="champion")["seed"].unique().to_list() == [None, 1, 2]
    lexical = table.filter(pl.col("system") != "champion")
    assert set(lexical["test"]) == {"choice/zero_label", "odd/zero_label"}
    assert table["value"].is_between(0, 1).all()
    (again,) = champion.measure("sample", options)  # from what is kept
    assert again == made
