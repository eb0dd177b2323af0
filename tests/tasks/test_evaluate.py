"""The table: means by slice, every query once in each dimension; and the stage on toy files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch

from models.featurizer import CharacterFeaturizer
from models.model_files import save_model
from models.recurrent import RecurrentEncoder, RecurrentSettings
from tasks import evaluate
from tasks.evaluate import METRICS, main, nested, table
from tasks.frames import check, read_frame, write_frame
from tasks.params import EvaluateParams
from tasks.schemas import QUERIES, RUN, SCORES, SPLIT_ALIASES

ROOT = Path(__file__).parents[2]
PARAMS = EvaluateParams(
    occupation_score="best", soft_temperature=0.1, run_depth=2, bootstrap_draws=100
)
# (query, occupation size, title, source): every band of both dimensions, at its two ends
QUERY_ROWS = [
    ("1", 1, "x" * 15, "alias"),
    ("2", 2, "x" * 16, "alias"),
    ("3", 5, " " * 9 + "x" * 30, "input"),
    ("4", 6, "x" * 31, "input"),
    ("5", 15, "x", "input"),
    ("6", 16, "x" * 99, "input"),
]
HITS = {"1": 1.0, "2": 0.5, "3": 0.0, "4": 1.0, "5": 0.0, "6": 0.5}


def queries_of(rows: list[tuple[str, int, str, str]], test: str = "t") -> pl.DataFrame:
    whole = [(i, test, "test", title, ["a"], size, source) for i, size, title, source in rows]
    return pl.DataFrame(whole, schema=dict(QUERIES), orient="row")


def scores_of(queries: pl.DataFrame, system: str = "s") -> pl.DataFrame:
    rows = [
        (system, test, i, HITS[i], 1.0, 1.0, HITS[i] / 2)
        for test, i in queries.select("test", "query_id").iter_rows()
    ]
    return pl.DataFrame(rows, schema=dict(SCORES), orient="row")


QUERY_FRAME = queries_of(QUERY_ROWS)


def test_slices_by_hand() -> None:
    figures = table(scores_of(QUERY_FRAME), QUERY_FRAME, PARAMS, 1)
    found = {
        part: (value, n)
        for part, metric, value, n in figures.select("slice", "metric", "value", "n").iter_rows()
        if metric == "success_at_1"
    }
    assert found == {
        "all": (0.5, 6),
        "size:1": (1.0, 1),
        "size:2-5": (0.25, 2),  # (0.5 + 0) / 2
        "size:6-15": (0.5, 2),  # (1 + 0) / 2
        "size:16+": (0.5, 1),
        "length:1-15": (0.5, 2),  # (1 + 0) / 2; white space does not count
        "length:16-30": (0.25, 2),
        "length:31+": (0.75, 2),
        "source:alias": (0.75, 2),
        "source:input": (0.375, 4),
    }


def test_slices_cover_every_query_once_in_each_dimension() -> None:
    queries = pl.concat([QUERY_FRAME, queries_of(QUERY_ROWS[:4], "other")])
    scores = pl.concat([scores_of(queries, system) for system in ("s", "r")])
    figures = table(scores, queries, PARAMS, 1)
    dimension = pl.col("slice").str.split(":").list.first()
    sums = figures.group_by("system", "test", dimension, "metric").agg(
        pl.col("n").sum(), mean=(pl.col("value") * pl.col("n")).sum() / pl.col("n").sum()
    )
    assert len(sums) == 2 * 2 * 4 * len(METRICS)
    by_test = {"t": 6, "other": 4}
    for (test,), group in sums.group_by("test"):
        assert set(group["n"]) == {by_test[str(test)]}
    assert (
        sums.group_by("system", "test", "metric").agg(pl.col("mean").std())["mean"] < 1e-6
    ).all()


def test_intervals() -> None:
    """The mean lies inside; equal systems have equal intervals; a constant has no width."""
    scores = pl.concat([scores_of(QUERY_FRAME, system) for system in ("s", "r")])
    figures = table(scores, QUERY_FRAME, PARAMS, 1)
    assert (figures["low"] <= figures["value"]).all()
    assert (figures["value"] <= figures["high"]).all()
    one, other = (figures.filter(pl.col("system") == s).drop("system") for s in ("s", "r"))
    assert one.equals(other)
    constant = figures.filter(pl.col("metric") == "success_at_5")
    assert set(constant["low"]) == set(constant["high"]) == {1.0}
    assert not table(scores, QUERY_FRAME, PARAMS, 2).equals(figures)


def test_nested_by_hand() -> None:
    queries = pl.concat([QUERY_FRAME, queries_of(QUERY_ROWS[:2], "other")])
    figures = table(scores_of(queries), queries, PARAMS, 1)
    assert nested(figures) == {
        "s": {
            "t": {"success_at_1": 0.5, "success_at_5": 1.0, "success_at_10": 1.0, "mrr": 0.25},
            "other": {"success_at_1": 0.75, "success_at_5": 1, "success_at_10": 1, "mrr": 0.375},
        }
    }


def test_no_queries() -> None:
    figures = table(scores_of(QUERY_FRAME.clear()), QUERY_FRAME.clear(), PARAMS, 1)
    assert figures.is_empty()
    assert figures.columns == list(evaluate.TABLE)
    assert nested(figures) == {}


def fake_systems(model: Path, stage: int, titles: list[str]) -> dict[str, Any]:
    """One that knows its titles, one to which all are alike."""
    return {
        "exact": lambda raw: np.array([[r == t for t in titles] for r in raw], np.float32),
        "alike": lambda raw: np.zeros((len(raw), len(titles)), np.float32),
    }


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three occupations of one training title each, a held-out title, queries of three parts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    rows = [("a", "cook", True, "train"), ("b", "nurse", True, "train")]
    rows += [("c", "tutor", True, "train"), ("c", "teacher", False, "heldout_alias")]
    frame = pl.DataFrame(rows, schema=dict(SPLIT_ALIASES), orient="row")
    write_frame(frame, Path("data/split/aliases.parquet"), SPLIT_ALIASES)
    row = ("h", "heldout_alias", "test", "teacher", ["c"], 2, "alias")
    tests = [row, ("v", "heldout_alias", "valid", "cook", ["a"], 1, "alias")]
    frame = pl.DataFrame(tests, schema=dict(QUERIES), orient="row")
    write_frame(frame, Path("data/split/queries.parquet"), QUERIES)
    row = ("1", "typos", "test", "cook", ["a"], 1, "typo")
    frame = pl.DataFrame([row], schema=dict(QUERIES), orient="row")
    write_frame(frame, Path("data/typos/queries.parquet"), QUERIES)
    monkeypatch.setattr("sys.argv", ["evaluate", "--stage", "0"])
    return tmp_path / "data/evaluate/0"


def test_the_stage_by_hand(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`exact` finds "cook"; "teacher" is not in the index: all three tie, ⅓. `alike`: always ⅓."""
    monkeypatch.setattr(evaluate, "all_systems", fake_systems)
    main()
    scores = read_frame(files / "scores.parquet", SCORES)
    assert scores.select("system", "test", "query_id").rows() == [
        ("exact", "typos", "1"),
        ("exact", "heldout_alias", "h"),
        ("alike", "typos", "1"),
        ("alike", "heldout_alias", "h"),
    ]
    run = read_frame(files / "run.parquet", RUN)
    assert run.group_by("system", "query_id").len()["len"].to_list() == [3] * 4
    assert set(run["title"]) == {"cook", "nurse", "tutor"}
    found = json.loads((files / "metrics.json").read_text())
    values = {(s, t): v["success_at_1"] for s, tests in found.items() for t, v in tests.items()}
    third = pytest.approx(1 / 3, abs=1e-6)
    assert values.pop(("exact", "typos")) == 1
    assert list(values.values()) == [third] * 3
    figures = pl.read_csv(files / "table.csv")
    assert check(figures, evaluate.TABLE, "table")["n"].unique().to_list() == [1]


def test_the_stage_with_its_own_systems(
    files: Path, encoder_settings: Callable[..., RecurrentSettings]
) -> None:
    featurizer = CharacterFeaturizer.fit(["cook nurse tutor"], 24)
    torch.manual_seed(0)
    weights = RecurrentEncoder(encoder_settings(), featurizer.vocabulary_size).state_dict()
    save_model(Path("data/train/0/model"), featurizer, encoder_settings(), weights, weights)
    main()
    found = json.loads((files / "metrics.json").read_text())
    assert set(found) == {"ngram", "tfidf", "untrained", "0"}
    assert found["untrained"] == found["0"]
    assert all(tests["typos"]["success_at_1"] == 1 for tests in found.values())
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    main()
    assert before == {path.name: path.read_bytes() for path in files.iterdir()}
    assert set(before) == {"scores.parquet", "run.parquet", "table.csv", "metrics.json"}
