"""Fair questions: no held-out alias, nothing reviewed, the board's half that studies give away."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from benchmarks.product.queries import COLUMNS, ESCO, even_half, queries
from benchmarks.studies.champion.titles import read_halves
from models.ranking.index import AliasIndex

IDS = [f"{ESCO}occupation/{number}" for number in range(2)]


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """Forty titles twice, spelled differently, and one of an occupation that nobody knows."""
    titles = [f"Title {number}" for number in range(40)]
    rows = [(t, IDS[0]) for t in titles] + [(f"({t}) ", IDS[1]) for t in titles]
    rows.append(("Title 1", "elsewhere"))
    file = tmp_path / "jobbert/titles.csv"
    file.parent.mkdir()
    frame = pl.DataFrame(rows, schema=["vacancyTitle", "conceptUri"], orient="row")
    frame.with_row_index("").write_csv(file)
    return file


def test_the_even_half_is_that_of_the_studies(board: Path) -> None:
    made = even_half(board, set(IDS), set())
    theirs = read_halves(board.parents[1], AliasIndex.of(["a", "b"], IDS), "even").asked
    assert 0 < len(made) < 80
    assert made["normalized"].to_list() == theirs["normalized"].to_list()
    assert made["cleaned"].to_list() == theirs["cleaned"].to_list()
    assert made["occupation_ids"].explode().to_list() == theirs["occupation_id"].to_list()


def test_titles_that_the_pipeline_has_for_inputs_are_not_asked(board: Path) -> None:
    every = even_half(board, set(IDS), set())
    one = every["normalized"][0]
    assert len(even_half(board, set(IDS), {one})) == len(every) - 2


def test_held_out_aliases_and_reviewed_titles_are_not_asked(
    toy: Path, board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = queries(toy / "data", board, {"o0"}, {"a line cook"})
    assert "left out, the model's taxonomy has no ids of ESCO" in capsys.readouterr().out
    assert tuple(made.columns) == COLUMNS
    counts = dict(made.group_by("test").len().iter_rows())
    assert counts == {"annotations": 4, "typos": 5, "composition": 5, "extra_words": 5}


def test_the_board_is_asked_where_it_fits(
    toy: Path, board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert queries(toy / "data", board, set(IDS), set())["test"][0] == "vacancies"
    queries(toy / "data", board.with_name("none.csv"), set(IDS), set())
    assert "set ROLECALL_DATA" in capsys.readouterr().out
