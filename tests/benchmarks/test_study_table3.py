"""Table 3 in the results: rows from invented files, and the page's tables beside the paper's."""

from __future__ import annotations

import math
from argparse import Namespace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from benchmarks.__main__ import measure
from benchmarks.render import pages
from benchmarks.results import Row, machine, read_rows, read_runs
from benchmarks.studies.table3 import measure as table3
from benchmarks.study import study
from tasks.evaluation.metric_tables import write_table
from tasks.io.frames import Schema
from tasks.io.schemas import HISTORY, TABLE
from tasks.papers.table3.effects import EFFECTS
from tasks.papers.table3.tables import SUMMARY

ROOT = Path(__file__).parents[2]
LABEL = "source:label_agrees"


def write(path: Path, schema: Schema, lines: list[tuple[Any, ...]]) -> None:
    write_table(pl.DataFrame(lines, schema=dict(schema), orient="row"), path, schema)


def make_workspace(folder: Path, shift: float = 0.0) -> Path:
    """Mixes base, typos and corrections of two seeds; their means; gains."""
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    params["seeds"] = [1, 2]
    params["train"] |= {"max_steps": 1200, "batch_pairs": 128}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    tests = (("typos", "all"), ("extra_words", LABEL), ("extra_words", "source:label_differs"))

    def lines(system: str, value: float) -> list[tuple[Any, ...]]:
        return [
            (system, *test, metric, value, value - 0.1, value + 0.1, 40)
            for test in tests
            for metric in ("success_at_1", "mrr")
        ]

    write(folder / "data/lexical/table.csv", TABLE, lines("ngram", 0.5) + lines("tfidf", 0.6))
    values = {("base", 1): 0.3, ("base", 2): 0.5, ("typos", 1): 0.6, ("typos", 2): 0.8}
    values |= {("corrections", 1): 0.7, ("corrections", 2): 0.7}
    for (mix, seed), value in values.items():
        table = lines("untrained", 0.1 if mix == "base" else 0.2) + lines(mix, value + shift)
        write(folder / f"data/evaluate/{mix}/{seed}/table.csv", TABLE, table)
        scores = (0.3, 0.2 if (mix, seed) == ("base", 2) else 0.4)  # which did not learn
        looks = [(100 * look, math.nan, math.nan, math.nan, s) for look, s in enumerate(scores)]
        write(folder / f"data/train/{mix}/{seed}/history.csv", HISTORY, looks)
    means = {"ngram": (0.5, 1, None), "base": (0.4, 2, 0.1414), "typos": (0.7, 2, 0.1414)}
    summary = [
        (system, *test, metric, mean, mean - 0.05, mean + 0.05, 40, seeds, None, None, spread, 0.9)
        for system, (mean, seeds, spread) in means.items()
        for test in tests
        for metric in ("success_at_1", "mrr")
    ]
    write(folder / "data/table3/summary.csv", SUMMARY, summary)
    head = ("typos", "base", "typos", "all")
    effects = [
        (*head, "success_at_1", 0.3, 0.2, 0.4, 40, 0.3, 0.4286, 0.8, True, 1),
        (*head, "success_at_1", 0.3, -0.1, 0.4, 40, 1.0, None, 0.8, True, 2),
        (*head, "mrr", 0.25, 0.2, 0.3, 40, 0.3, None, None, True, 1),
        (
            "synonyms",
            "typos",
            "composition",
            "all",
            "success_at_1",
            0.1,
            0.05,
            0.15,
            40,
            0.6,
            0.25,
            0.6,
            True,
            None,
        ),
    ]
    write(folder / "data/table3/effects.csv", EFFECTS, effects)
    return folder


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(make_workspace(tmp_path))
    return tmp_path


def rows_of(dataset: str = "sample") -> dict[tuple[Any, ...], Row]:
    (rows,) = table3.measure(dataset, Namespace())
    by_key = {(row.system, row.test, row.metric, row.seed): row for row in rows}
    assert len(by_key) == len(rows)
    return by_key


def test_rows_of_systems_seeds_and_means(made: Path) -> None:
    """Lexical systems once and without a seed; the untrained network of mix `base`."""
    rows = rows_of()
    assert rows["typos", "typos", "success_at_1", 2].value == 0.8
    assert rows["ngram", f"extra_words/{LABEL}", "mrr", None].n == 40
    untrained = {(key[-1], row.value) for key, row in rows.items() if key[0] == "untrained"}
    assert untrained == {(1, 0.1), (2, 0.1)}
    mean = rows["typos", "typos", "success_at_1", None]
    assert (mean.value, mean.low, mean.high) == pytest.approx((0.7, 0.65, 0.75))
    assert rows["base", "training", "best_step", 1].value == 100
    assert rows["base", "training", "best_step", 2].value == 0
    assert ("ngram", "typos", "success_at_1", 1) not in rows


def test_rows_of_gains(made: Path) -> None:
    rows = rows_of()
    gain = rows["typos-base", "typos", "gain_success_at_1", 1]
    assert (gain.value, gain.low, gain.high, gain.n) == (0.3, 0.2, 0.4, 40)
    assert rows["typos-base", "typos", "gain_mrr", 1].value == 0.25


def test_a_workspace_that_only_retrained_has_no_effects(made: Path) -> None:
    """And says what to run where the mix that serves has not been evaluated."""
    (made / "data/table3/effects.csv").unlink()
    assert not [key for key in rows_of() if "-" in key[0]]
    for seed in (1, 2):
        (made / f"data/evaluate/corrections/{seed}/table.csv").unlink()
    with pytest.raises(FileNotFoundError, match=r"evaluate/corrections/1/table\.csv is missing"):
        rows_of()


def test_page_shows_the_paper_beside_and_shares_what_is_equal(made: Path, tmp_path: Path) -> None:
    """The profile `paper` has the sample's lexical figures, which therefore stand once.

    The paper: n-gram 0.99, `base` 0.95, `typos` 0.99 on Typos. `three_seeds` has not run.
    """
    make_workspace(tmp_path / ".workspaces/paper", shift=0.1)
    out = tmp_path / "out"
    measure(study("table3"), ["--results", str(out)])
    rows = read_rows(out / "table3.csv")
    assert {row["dataset"] for row in rows if row["system"] == "ngram"} == {"sample"}
    assert {row["dataset"] for row in rows} == {"sample", "paper"}
    assert [run["command"] for run in read_runs(out).values()] == [
        "make reproduce PROFILE=sample && python -m benchmarks table3 --dataset sample",
        "make reproduce PROFILE=paper && python -m benchmarks table3 --dataset paper",
    ]
    text = pages(out, ROOT / "docs/results")[Path("docs/results/table3.md")]
    for line in (
        "| system | typos | paper |",
        "| ngram | 0.500 | 0.99 |",
        "| base (0) | 0.400 (seed 2 did not learn) | 0.95 |",
        "| typos (1) | 0.700 | 0.99 |",
    ):
        assert line in text.splitlines(), line


def test_what_is_missing_is_left_out_or_refused(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measure(study("table3"), ["--results", str(tmp_path / "out")])
    assert "table3 three_seeds: left out, .workspaces/three_seeds/" in capsys.readouterr().out
    assert {run["machine"] for run in read_runs(tmp_path / "out").values()} == {machine()}
    with pytest.raises(FileNotFoundError, match="run `make reproduce PROFILE=three_seeds`"):
        measure(study("table3"), ["--dataset", "three_seeds"])
