"""The queue: answered anew, in order, varied, with reasons; its file, in which no cell computes."""

import csv
from io import StringIO
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from queues import queue_of
from served_toy import toy_normalizer

from models.serving.clean import UNSURE
from models.serving.confidence import Calibration
from models.serving.model import Normalizer
from tasks.apps.review import queue as queueing
from tasks.apps.review.candidates import CANDIDATES
from tasks.apps.review.page import Occupation
from tasks.apps.review.queue import (
    QUEUE,
    atomic_folder,
    build_queue,
    chosen,
    known_occupations,
    with_both_answers,
    write_queue,
)
from tasks.io.formulas import unguard
from tasks.io.schemas import FEEDBACK

LABELS = {"baker": "Baker", "nurse": "Nurse", "warden": "Keeper"}
CELLS = {"nurse": "=Nurse", "baker": "Baker"}
SIGNS = "=+-@\t\r\n＝＋－＠"


@pytest.fixture
def normalizer() -> Normalizer:
    return toy_normalizer(Calibration(0.2, [0.0] * 3, [1.0] * 3, 99.0))


def candidates(*titles: str, **changes: Any) -> pl.DataFrame:
    """Candidates that the run held back."""
    row = {"rows": 2, "abstained": True, "reason": UNSURE, "priority": 1.0, "chosen_by": "coverage"}
    rows = [
        {"normalized": title.lower(), "raw_title": title, "hash": number, **row, **changes}
        for number, title in enumerate(titles)
    ]
    return pl.DataFrame(rows, schema=dict(CANDIDATES))


def test_each_has_alternatives_and_says_why(normalizer: Normalizer) -> None:
    """The queue answers a title that the run held back."""
    both = candidates("bread makr", "nurse keep", earlier_occupation_id="warden")
    queue = build_queue(normalizer, both, LABELS, 5).sort("raw_title")
    assert dict(queue.schema) == dict(QUEUE)
    assert queue["raw_title"].to_list() == ["bread makr", "nurse keep"]
    assert queue["confidence"].is_between(0, 1).all()
    assert queue["occupation_id"].to_list() == ["baker", "nurse"]
    assert [len(top) for top in queue["top_occupation_ids"]] == [3, 3], "all there are"
    why = queue["why_queued"][0]
    assert why.startswith("2 rows; ") and "held back in the run" in why
    assert why.endswith("an earlier run answered Keeper")
    assert queue["why_answered"][0].startswith("Baker, by its title 'Bread maker'")
    assert queue["model_version"].to_list() == ["m1", "m1"]
    assert queue["chosen_by"].to_list() == ["coverage", "coverage"]


@pytest.mark.parametrize(
    ("run", "served"),
    [
        ({}, "abstained"),
        ({"abstained": False, "reason": None, "occupation_id": "baker"}, "answered"),
        ({"abstained": False, "reason": None, "occupation_id": "nurse"}, None),
    ],
    ids=["held back", "the same answer", "another model's answer"],
)
def test_it_says_how_the_run_served_a_title(normalizer, run, served) -> None:
    """The queue answers it Baker, whatever the run did."""
    queue = build_queue(normalizer, candidates("bread makr", **run), LABELS, 5)
    assert queue.select("occupation_id", "served").row(0) == ("baker", served)


@pytest.mark.parametrize(
    ("ways", "budget", "order"),
    [  # r: random, d: disputed, c: coverage
        ("rrrccccccccc", 12, "ccccrccccrcr"),
        ("ccccccccc", 2, "cc"),
        ("rrdccccccccc", 10, "ccdcrccccr"),
    ],
)
def test_every_fifth_is_drawn_and_the_third_of_five_disputed(ways, budget, order) -> None:
    """In their order; the others are chosen, and fill the rest as far as they reach."""
    frame = candidates(*(letter * 2 for letter in "abcdefghijkl"[: len(ways)]))
    named = {"r": "random", "d": "disputed", "c": "coverage"}
    frame = frame.with_columns(chosen_by=pl.Series([named[way] for way in ways]))
    queue = chosen(frame, np.eye(len(ways), dtype=np.float32), 0.07, budget)
    assert queue["chosen_by"].to_list() == [named[way] for way in order]
    for way in named.values():
        names = frame.filter(chosen_by=way)["normalized"].to_list()
        own = queue.filter(chosen_by=way)["normalized"].to_list()
        assert own == names[: len(own)], "equal gains"


@pytest.mark.parametrize("other", ["nurse", "warden", "baker", None])
def test_the_other_models_answer_is_the_second(normalizer: Normalizer, other: str | None) -> None:
    """The champion's stays the first; without another the order is the champion's.

    The other model gives the first one too if an earlier champion answered the run.
    """
    title = candidates("bread makr", chosen_by="disputed", other_occupation_id=other)
    (row,) = build_queue(normalizer, title, LABELS, 5).iter_rows(named=True)
    plain = build_queue(normalizer, candidates("bread makr"), LABELS, 5).row(0, named=True)
    tops = row["top_occupation_ids"]
    assert row["occupation_id"] == tops[0] == "baker" and sorted(tops) == sorted(set(tops))
    assert tops[1] == (other if other not in (None, "baker") else plain["top_occupation_ids"][1])
    titles = dict(zip(plain["top_occupation_ids"], plain["top_titles"], strict=True))
    assert row["top_titles"] == [titles[occupation] for occupation in tops]
    assert f"a newer model answers {LABELS.get(other, 'nothing')}" in row["why_queued"]


def test_an_answer_beyond_the_alternatives_is_shown_without_a_score() -> None:
    """It replaces the last."""
    names = ("top_occupation_ids", "top_titles", "top_scores")
    tops = ([f"o{k}" for k in range(5)], list("abcde"), [0.9, 0.8, 0.7, 0.6, 0.5])
    frame = pl.DataFrame([tops], schema=names, orient="row")
    made = with_both_answers(frame.with_columns(other_occupation_id=pl.lit("o9")), {"o9": "Ninth"})
    assert made.select(names).row(0) == (
        ["o0", "o9", "o1", "o2", "o3"],
        ["a", "Ninth", "b", "c", "d"],
        [0.9, None, 0.8, 0.7, 0.6],
    )


def test_only_the_first_are_explained(normalizer: Normalizer, monkeypatch) -> None:
    """An explanation is many searches; all else is said of every title."""
    monkeypatch.setattr(queueing, "EXPLAINED", 1)
    queue = build_queue(normalizer, candidates("bread makr", "nurse keep"), LABELS, 5)
    assert [why is None for why in queue["why_answered"]] == [False, True]
    assert queue["why_queued"].null_count() == 0


def test_progress_counts_the_titles_that_are_done(normalizer, monkeypatch, capsys) -> None:
    """Each look at the clock is ten seconds after the one before, and a title lies between two."""
    clock = SimpleNamespace(monotonic=count(0, 10).__next__)
    monkeypatch.setattr("models.reproducibility.time", clock)
    monkeypatch.setattr(queueing, "AT_ONCE", 1)
    build_queue(normalizer, candidates("bread makr", "nurse keep"), LABELS, 5)
    assert capsys.readouterr().out.splitlines() == [
        "titles embedded: 1 of 2, 0.1/s, some 10 s left",
        "titles answered: 1 of 2, 0.1/s, some 10 s left",
        "titles explained: 1 of 2, 0.1/s, some 10 s left",
    ]


def test_near_duplicates_and_the_budget(normalizer: Normalizer) -> None:
    long = "maker of bread and of rolls"
    both = candidates(long, f"{long}!", "ward sistr")
    titles = build_queue(normalizer, both, LABELS, 5)["raw_title"].to_list()
    assert sorted(title.strip("!") for title in titles) == [long, "ward sistr"]
    assert len(build_queue(normalizer, both, LABELS, 1)) == 1
    assert build_queue(normalizer, candidates(), LABELS, 1).is_empty()


def test_what_the_page_knows_of_occupations(normalizer: Normalizer) -> None:
    assert known_occupations(normalizer)[1] == Occupation(
        "nurse", "Nurse", ["Nurse", "Ward sister", "Keeper"], ["2"]
    )


def test_the_folder_is_there_when_all_of_it_is(tmp_path: Path) -> None:
    final = tmp_path / "out"
    (tmp_path / "out.unfinished").mkdir()
    (tmp_path / "out.unfinished/.queue.csv.partial").write_text("left by a kill")
    (tmp_path / "out.unfinished/titles-x").mkdir()
    with atomic_folder(final) as folder:
        (folder / "a").write_text("1")
        assert not final.exists()
    assert [path.name for path in final.iterdir()] == ["a"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_failure_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), atomic_folder(tmp_path / "out") as folder:
        (folder / "queue.csv").write_text("1")
        raise RuntimeError
    assert not [*tmp_path.iterdir()]


def test_a_folder_that_is_taken_is_not_touched(tmp_path: Path) -> None:
    part = tmp_path / "out.unfinished/part-0000-00000.parquet"
    part.parent.mkdir()
    part.write_text("of rolecall normalize")
    with pytest.raises(ValueError, match="holds files of somebody else"):
        atomic_folder(tmp_path / "out").__enter__()
    with pytest.raises(ValueError, match="is there already"):
        atomic_folder(tmp_path).__enter__()
    assert part.read_text() == "of rolecall normalize"


def content_of(queue: pl.DataFrame) -> str:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "queue.csv"
        write_queue(queue, CELLS, path)
        assert path.read_bytes().startswith(b"\xef\xbb\xbf")
        return path.read_bytes().decode("utf-8-sig")


def rows_of(queue: pl.DataFrame) -> list[dict[str, str]]:
    return [*csv.DictReader(StringIO(content_of(queue), newline=""))]


def test_columns_of_feedback_come_first_and_are_empty_where_a_person_writes() -> None:
    (row,) = rows_of(queue_of("ward, nurse"))
    assert list(row)[: len(FEEDBACK)] == list(FEEDBACK)
    assert row == {
        **{"raw_title": "ward, nurse", "predicted_occupation_id": "nurse", "model_version": "m1"},
        **dict.fromkeys(("verdict", "corrected_occupation_id", "reviewer_id", "judged_at"), ""),
        **{"matched_title": "Nurse", "occupation_label": "'=Nurse", "confidence": "0.25"},
        **{"rows": "3", "chosen_by": "coverage", "served": "answered", "why_queued": "3 rows"},
        **{"second_occupation_id": "baker", "second_label": "Baker"},
    }


def test_without_an_answer_the_newer_models_stands_as_the_second() -> None:
    """It is the only alternative of a disputed title."""
    (row,) = rows_of(queue_of("hello", occupation_id=None, top_occupation_ids=["baker"]))
    assert (row["predicted_occupation_id"], row["second_occupation_id"]) == ("", "baker")
    assert (row["occupation_label"], row["second_label"]) == ("", "Baker")
    (row,) = rows_of(queue_of("hello", occupation_id=None, top_occupation_ids=[]))
    assert (row["predicted_occupation_id"], row["second_label"]) == ("", "")


def test_no_formula_whatever_separates_cells() -> None:
    """As LibreOffice reads a semicolon, and Excel the list separator of the system."""
    texts = ["zeppelin pilot;=1+1", "pilot\t=1+1", "pilot\n＝1+1", 'pilot";"=1+1']
    content = content_of(queue_of(*texts))
    for separator in ",;\t":
        for row in csv.reader(StringIO(content, newline=""), delimiter=separator):
            assert not any(cell.startswith(tuple(SIGNS)) for cell in row)
    assert [unguard(row["raw_title"]) for row in rows_of(queue_of(*texts))] == texts


def test_every_cell_is_quoted() -> None:
    content = content_of(queue_of("nurse", occupation_id=None))
    assert all(cell[0] == cell[-1] == '"' for cell in content.replace("\n", ",")[:-1].split(","))
