"""The champion without one ingredient at a time, on a toy."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import polars as pl
import pytest
from test_study_champion import write_board
from toy_workspace import JOBS

from benchmarks.studies.champion.asking import Asking
from benchmarks.studies.champion.titles import read_halves
from benchmarks.studies.ingredients import measure as ingredients
from models.answer.search import Search
from tasks.evidence.known import Known

OPTIONS = Namespace(without=["inputs", "typo", "teacher"], steps=4, batch=6, seeds=2, processes=1)


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    fronts = [one + two for one in "abcdefgh" for two in "mnopqrst"]
    rows = [(f"{front} {job}", f"o{k}") for k, job in enumerate(JOBS) for front in fronts]
    write_board(tmp_path, rows)
    monkeypatch.setattr(ingredients, "data_folder", lambda: tmp_path)
    monkeypatch.setattr(ingredients.Workspace, "mix", "3")
    return tmp_path


def test_a_study_on_a_toy(workspace: Path, board: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole first, then each without; a gain over each; nothing of the odd half."""
    knows, search = [], Asking.search

    def noted(asking: Asking, model: Path, known: Known | None) -> Search:
        knows.append(known is not None and len(known.bare))
        return search(asking, model, known)

    monkeypatch.setattr(Asking, "search", noted)
    options = Namespace(**vars(OPTIONS), kept=board / "kept")
    made = [row for rows in ingredients.measure("sample", options) for row in rows]
    table = pl.DataFrame(made, orient="row", schema=list(ingredients.Row._fields))
    systems = ["champion", *(f"champion/without_{name}" for name in OPTIONS.without)]
    own = table.filter(pl.col("metric") == "mrr")
    assert own["system"].unique(maintain_order=True).to_list() == systems
    gains = table.filter(pl.col("metric") == "gain_mrr")
    assert gains["system"].to_list() == [f"champion-{name}" for name in systems[1:]]
    assert knows == [2, 2, False, False, 2, 2, 2, 2]
    assert gains["value"].to_list()[2] == 0.0  # no one teaches the toy
    index = ingredients.Workspace.read("sample").aliases
    assert set(own["n"]) == {
        len(read_halves(board, index, "choice").given)
        + len(read_halves(board, index, "choice").asked)
    }
    strings = pl.read_parquet(board / "kept/without-typo/strings.parquet")
    assert "typo" not in set(strings["role"])


def test_an_unknown_ingredient_is_refused(workspace: Path, board: Path) -> None:
    options = Namespace(**vars(OPTIONS) | {"without": ["luck"]}, kept=board / "kept")
    with pytest.raises(ValueError, match="no ingredient 'luck'; choose companion, noisy"):
        list(ingredients.measure("sample", options))
