"""Halves of the job board, what its titles and labels add, and a small run of the whole."""

from __future__ import annotations

import csv
from argparse import Namespace
from pathlib import Path

import polars as pl
import pytest
from toy_workspace import JOBS

from benchmarks.job_board import COLUMNS, FILE, Halves, read_halves
from benchmarks.studies.champion import measure as champion
from models.search.index import AliasIndex
from models.text.titles import clean_title

INDEX = AliasIndex.of(["a", "b"], ["o0", "o1"])
OPTIONS = Namespace(
    halves=["choice", "odd"],
    steps=8,
    batch=6,
    seeds=2,
    processes=1,
    prior_power=0.5,
    prediction_weight=0.5,
    untrained=["ngram", "tfidf"],
    timed=5,
    repeats=1,
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
    assert len(odd.known) + len(odd.queried) == 800
    assert 300 < len(odd.queried) < 500
    assert set(odd.known["query_id"]) == {*choice.known["query_id"], *choice.queried["query_id"]}
    assert 0.1 < len(choice.queried) / len(odd.known) < 0.3


def test_labels_agree_as_often_as_two_of_one_title_do() -> None:
    """Two of three alike, then both: of five labels 1/2, 1/2, 0, 1, 1 of the others agree."""
    labels = [("a", "o0"), ("A ", "o0"), ("a", "o1"), ("b", "o1"), ("b", "o1"), ("c", "o0")]
    normalized = [clean_title(title).lower() for title, _ in labels]
    queried = pl.DataFrame({"normalized": normalized, "occupation_id": [own for _, own in labels]})
    halves = Halves(queried.clear(), queried)
    (row,) = champion.ceiling_rows(Namespace(halves=halves))  # type: ignore[arg-type]
    assert (row.system, row.test, row.value, row.n) == ("labels", "feedback", 3 / 5, 5)


def test_a_study_on_a_toy(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every setting has every metric, of each seed and of all; the lexical systems have one."""
    fronts = [one + two for one in "abcdefghijkl" for two in "mnopqrstuvwx"]
    board = [(f"{front} {job}", f"o{k}") for k, job in enumerate(JOBS) for front in fronts]
    write_board(tmp_path, board)
    monkeypatch.setattr(champion, "data_folder", lambda: tmp_path)
    options = Namespace(**vars(OPTIONS), kept=tmp_path / "kept")
    (made,) = champion.measure("sample", options)
    table = pl.DataFrame(made, orient="row", schema=list(champion.Row._fields))
    settings = {"zero_label", "unlabelled", "feedback"}
    names = {f"{half}/{setting}" for half in OPTIONS.halves for setting in settings}
    ranked = table.filter(pl.col("metric").is_in(["success_at_1", "success_at_10", "mrr"]))
    assert set(ranked.filter(system="champion")["test"]) == names
    assert set(ranked.filter(system="champion/alone")["test"]) == names & {
        f"{half}/zero_label" for half in OPTIONS.halves
    }
    assert ranked.filter(system="champion")["seed"].unique().to_list() == [None, 1, 2]
    speeds = table.filter(metric="titles_per_second")
    assert speeds["system"].to_list() == ["champion", "ngram", "tfidf"]
    table = table.filter(pl.col("metric") != "titles_per_second")
    lexical = table.filter(pl.col("system").is_in(["ngram", "tfidf"]))
    assert set(lexical["test"]) == {"choice/zero_label", "odd/zero_label"}
    weights = dict(table.filter(metric="megabytes").select("system", "value").rows())
    assert weights["champion/single"] > weights["champion"] > 0
    unbounded = "^(best_step|last_step|gain_|megabytes)"
    bounded = table.filter(~pl.col("metric").str.contains(unbounded))
    assert bounded["value"].is_between(0, 1).all()
    (again,) = champion.measure("sample", options)  # from what is kept
    assert [r for r in again if r.test != "speed"] == [r for r in made if r.test != "speed"]
