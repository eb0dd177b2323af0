"""Queries: no held-out alias, no reviewed title, and the even half of the board."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from benchmarks.job_board import FILE, read_halves
from benchmarks.product.queries import COLUMNS, ESCO, queries
from models.search.index import AliasIndex

IDS = [f"{ESCO}occupation/{number}" for number in range(2)]


INDEX = AliasIndex.of(["a", "b"], IDS)


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """Forty titles twice, spelled differently, and one of an occupation that nobody knows."""
    titles = [f"Title {number}" for number in range(40)]
    rows = [(t, IDS[0]) for t in titles] + [(f"({t}) ", IDS[1]) for t in titles]
    rows.append(("Title 1", "elsewhere"))
    file = tmp_path / FILE
    file.parent.mkdir()
    frame = pl.DataFrame(rows, schema=["vacancyTitle", "conceptUri"], orient="row")
    frame.with_row_index("").write_csv(file)
    return tmp_path


def test_the_board_is_its_even_half_without_the_pipelines_inputs(
    toy: Path, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = read_halves(published, INDEX, "even").queried
    assert 0 < len(theirs) < 80
    made = queries(toy / "data", published, INDEX, set()).filter(test="vacancies")
    for column in ("raw_title", "cleaned", "normalized"):
        assert made[column].to_list() == theirs[column].to_list()
    assert made["occupation_ids"].explode().to_list() == theirs["occupation_id"].to_list()
    odd = queries(toy / "data", published, INDEX, set(), "odd").filter(test="vacancies_odd")
    assert len(odd) and not {*odd["normalized"]} & {*made["normalized"]}
    one = made["normalized"][0]
    inputs = pl.DataFrame({"normalized": [one]})
    monkeypatch.setattr("benchmarks.product.queries.read_frame", lambda *_: inputs)
    again = queries(toy / "data", published, INDEX, set()).filter(test="vacancies")
    assert len(again) == len(made) - 2 and one not in set(again["normalized"])


def test_held_out_aliases_and_reviewed_titles_are_left_out(
    toy: Path, published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = queries(toy / "data", published, AliasIndex.of(["a"], ["o0"]), {"a line cook"})
    assert "left out, the model's taxonomy has no ids of ESCO" in capsys.readouterr().out
    assert tuple(made.columns) == COLUMNS
    counts = dict(made.group_by("test").len().iter_rows())
    assert counts == {"annotations": 4, "typos": 5, "composition": 5, "extra_words": 5}


def test_the_board_comes_first_where_it_fits(
    toy: Path, published: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert queries(toy / "data", published, INDEX, set())["test"][0] == "vacancies"
    queries(toy / "data", published / "none", INDEX, set())
    assert "set ROLECALL_DATA" in capsys.readouterr().out
