"""A model as MLflow loads it, its alternatives, and the command without a champion."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

from benchmarks.product import __main__ as product
from benchmarks.product.everyday import GROUPS
from benchmarks.product.queries import ESCO
from benchmarks.product.systems import OURS, RegisteredModel, alternatives, ranked, speed, timed
from benchmarks.results import Row
from models.search.index import AliasIndex
from models.search.occupation_scores import ScoreRule
from models.search.search import Search
from tasks.pipeline.lexical.params import LexicalParams


class FakeModel:
    """Knows one title; answers in the types that the registered model has."""

    def predict(self, frame: pd.DataFrame, params: dict[str, Any]) -> pd.DataFrame:
        assert params == {"top_k": 100}
        known = [title == "baker" for title in frame["raw_title"]]
        made = {
            "occupation_id": ["o1" if own else None for own in known],
            "codes": [["7", "75"] if own else [] for own in known],
            "top_occupation_ids": [["o1", "o2"] if own else [] for own in known],
            "confidence": pd.array([0.9 if own else None for own in known], dtype="Float64"),
        }
        return pd.DataFrame(made)


def test_answers_are_lists_and_an_abstention_is_an_empty_one() -> None:
    made = RegisteredModel(Path(), FakeModel()).answers(["baker", "???"])
    assert made.occupations == [["o1", "o2"], []]
    assert made.confidence[0] == 0.9 and np.isnan(made.confidence[1])


def test_alternatives_always_answer_and_have_a_size() -> None:
    index = AliasIndex.of(["baker", "line cook", "tram driver"], ["o1", "o2", "o3"])
    params = LexicalParams(tfidf_orders=[1, 3])
    made = {name: (own, size) for name, own, size in alternatives(index.titles, params)}
    assert {"ngram", "tfidf"} <= set(made)
    for name in ("ngram", "tfidf"):
        similarities, megabytes = made[name]
        search = Search(index, similarities, ScoreRule("best", 0.1))
        answers = ranked(name, search, ["tram drver", "zzz"])
        assert answers.occupations[0][0] == "o3"
        assert [len(own) for own in answers.occupations] == [3, 3]
        assert np.isnan(answers.confidence).all() and megabytes > 0
        took = speed(name, search, ["baker"] * 3)
        assert took.low is not None and took.high is not None
        assert 0 < took.low <= took.value <= took.high and took.n == 5


def test_without_a_champion_the_message_says_what_to_run(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(address: str, root: Path) -> None:
        raise ValueError(f"no model {address}")

    monkeypatch.setattr(product, "fetched", nothing)
    monkeypatch.setattr(sys, "argv", ["product", "--profile", "sample"])
    said = r"models:/rolecall-sample@champion(.|\n)*run `make retrain PROFILE=sample` f"
    with pytest.raises(SystemExit, match=said):
        product.main()
    monkeypatch.setattr(sys, "argv", ["product"])
    monkeypatch.delenv("ROLECALL_PROFILE")
    with pytest.raises(SystemExit, match="esco holds no workspace: run `make retrain` first"):
        product.main()


def test_a_timing_warms_up_first() -> None:
    calls: list[int] = []
    assert len(timed(lambda: calls.append(1))) == 5 and len(calls) == 6


class Unread(RegisteredModel):
    """A model without files, whose taxonomy is the toy's and one occupation of ESCO."""

    def index(self) -> AliasIndex:
        return AliasIndex.of(["baker", "line cook", "clerk"], ["o1", "o2", f"{ESCO}1"])

    def reviewed(self) -> set[str]:
        return set()

    def costs(self, raw_titles: list[str]) -> Iterator[Row]:
        for metric in ("titles_per_second", "milliseconds_per_title", "megabytes"):
            yield Row(OURS, "cost", metric, float(len(raw_titles)), 1)


def test_the_whole_run_writes_the_file_and_the_readme(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @contextmanager
    def fetched(address: str, root: Path) -> Iterator[tuple[str, Path]]:
        yield "models:/rolecall/7", root

    board, root = tmp_path / "published/jobbert/titles.csv", tmp_path / "clone"
    board.parent.mkdir(parents=True)
    titles = [f"baker {number}" for number in range(20)] + ["baker"] * 20
    pl.DataFrame({"vacancyTitle": titles, "conceptUri": [f"{ESCO}1"] * 40}).write_csv(board)
    shutil.copytree(toy, root)
    (root / "README.md").write_text("a <!-- benchmark:begin --> <!-- benchmark:end --> z")
    monkeypatch.chdir(root)
    monkeypatch.setenv("ROLECALL_DATA", str(board.parents[1]))
    monkeypatch.setattr(sys, "argv", ["product"])
    monkeypatch.setattr(product, "fetched", fetched)
    monkeypatch.setattr(
        product.RegisteredModel,
        "load",
        classmethod(lambda cls, folder: Unread(folder, FakeModel())),
    )
    threads = torch.get_num_threads()
    product.main()
    torch.set_num_threads(threads)
    lines = pl.read_csv(root / "results/product.csv", infer_schema=False)
    assert set(lines["test"]) == {
        *("vacancies", "annotations", "typos", "composition", "extra_words", "cost"),
        *(f"everyday_work_{group}" for group in GROUPS),
    }
    assert set(lines["system"]) >= {"rolecall", "ngram", "tfidf"}
    assert set(lines["run"]) == {"product-1"}
    assert "models:/rolecall/7" in (root / "results/runs.csv").read_text()
    page = (root / "README.md").read_text()
    assert page.startswith("a <!-- benchmark:begin -->\n|") and page.endswith("end --> z")
    assert (
        "titles of a job board" in page
        and "`make benchmark PROFILE=sample  # models:/rolecall/7`" in page
    )
    assert "written: results/product.csv" in capsys.readouterr().out
