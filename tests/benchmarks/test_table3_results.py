"""Table 3 in the results: rows from invented files, and the page's tables beside the paper's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from benchmarks.names import unnamed
from benchmarks.render import page
from benchmarks.results_file import read_rows, replace_rows
from benchmarks.table3 import main, rows, workspaces
from tasks.effects import EFFECTS, KEPT_UP
from tasks.frames import Schema
from tasks.table3 import SUMMARY, TABLE_BY_SEED
from tasks.tables import write_table

ROOT = Path(__file__).parents[2]
LABEL = "source:label_agrees"


def write(path: Path, schema: Schema, lines: list[tuple[Any, ...]]) -> None:
    write_table(pl.DataFrame(lines, schema=dict(schema), orient="row"), path, schema)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Two seeds of the models 0 to 2; their means; gains; a verdict."""
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    params["seeds"], params["train"]["max_steps"] = [1, 2], 1200
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    folder = tmp_path / "data/table3"
    accuracy = ("success_at_1", "mrr")
    tests = (("typos", "all"), ("extra_words", LABEL), ("extra_words", "source:label_differs"))
    values = {("ngram", None): 0.5, ("0", 1): 0.3, ("0", 2): 0.5, ("1", 1): 0.6, ("1", 2): 0.8}
    table = [
        (system, *where, metric, value, value - 0.1, value + 0.1, 40, seed)
        for (system, seed), value in values.items()
        for where in tests
        for metric in accuracy
    ]
    write(folder / "table.csv", TABLE_BY_SEED, table)
    means = {"ngram": (0.5, 1, None), "0": (0.4, 2, 0.1414), "1": (0.7, 2, 0.1414)}
    summary = [
        (system, *where, metric, mean, mean - 0.05, mean + 0.05, 40, seeds, None, None, spread, 0.9)
        for system, (mean, seeds, spread) in means.items()
        for where in tests
        for metric in accuracy
    ]
    write(folder / "summary.csv", SUMMARY, summary)
    head = ("1", "0", "typos", "all")
    effects = [
        (*head, "success_at_1", 0.3, 0.2, 0.4, 40, 0.3, 0.4286, 0.8, True, 1),
        (*head, "success_at_1", 0.3, -0.1, 0.4, 40, 1.0, None, 0.8, True, 2),
        (*head, "mrr", 0.25, 0.2, 0.3, 40, 0.3, None, None, True, 1),
    ]
    write(folder / "effects.csv", EFFECTS, effects)
    kept = [
        ("4c", "3", "extra_words", LABEL, -0.02, -0.05, 0.025, False, 30, 1),
        ("4c", "3", "typos", "all", 0.001, -0.004, 0.0125, True, 40, 1),
    ]
    write(folder / "kept_up.csv", KEPT_UP, kept)
    return tmp_path


def by_key(found: list[dict[str, Any]]) -> dict[tuple[Any, ...], dict[str, Any]]:
    names = ("system", "test", "metric", "seed")
    made = {tuple(row[name] for name in names): row for row in found}
    assert len(made) == len(found)
    return made


def test_rows_of_systems_seeds_and_means(workspace: Path) -> None:
    found = by_key(list(rows("sample", workspace, "m")))
    assert found["1", "typos", "success_at_1", 2]["value"] == 0.8
    assert found["ngram", f"extra_words/{LABEL}", "mrr", None]["n"] == 40
    mean = found["1", "typos", "success_at_1", None]
    assert (mean["value"], mean["low"], mean["high"]) == pytest.approx((0.7, 0.65, 0.75))
    spread = found["1", "typos", "success_at_1_deviation", None]
    assert (spread["value"], spread["low"], spread["n"]) == (0.1414, None, 2)
    assert ("ngram", "typos", "success_at_1_deviation", None) not in found
    assert ("ngram", "typos", "success_at_1", 1) not in found


def test_rows_of_gains_and_verdicts(workspace: Path) -> None:
    found = by_key(list(rows("sample", workspace, "m")))
    gain = found["1-0", "typos", "gain_success_at_1", 1]
    assert (gain["value"], gain["low"], gain["high"], gain["n"]) == (0.3, 0.2, 0.4, 40)
    assert found["1-0", "typos", "errors_removed", 1]["value"] == 0.4286
    assert ("1-0", "typos", "errors_removed", 2) not in found  # nothing was wrong before
    assert found["1-0", "typos", "gain_mrr", 1]["value"] == 0.25
    verdict = found["4c-3", f"extra_words/{LABEL}", "non_inferior", 1]
    assert (verdict["value"], verdict["n"]) == (0.0, 30)
    assert found["4c-3", "typos", "holm_low_success_at_1", 1]["value"] == -0.004


def test_bounds_of_training_and_commands(workspace: Path) -> None:
    """Every stage has the one section's `max_steps` and `batch_pairs`."""
    found = list(rows("esco", workspace, "a GPU"))
    training = [row for row in found if row["test"] == "training"]
    assert {row["system"] for row in training} == {"0", "1", "2", "3", "4", "4c"}
    assert {(row["metric"], row["value"]) for row in training} == {
        ("steps", 1200),
        ("batch_pairs", 128),
    }
    assert {row["machine"] for row in found} == {"a GPU"}
    assert {row["command"] for row in found} == {
        "ROLECALL_DATA=$ROLECALL_DATA make reproduce PROFILE=esco && python -m benchmarks.table3"
    }
    sample = next(rows("sample", workspace, "m"))
    assert sample["command"] == "make reproduce && python -m benchmarks.table3"


def test_page_shows_the_paper_beside(workspace: Path, tmp_path: Path) -> None:
    """The paper: n-gram 0.99, model 0 0.95, model 1 0.99 on Typos; (0.99 - 0.95) / 0.05 = 0.80."""
    out = tmp_path / "results"
    replace_rows(list(rows("sample", workspace, "m")), out)
    written = read_rows(out / "table3.csv")
    assert unnamed(written) == set()
    text = page(out)
    assert "at most 1,200 updates of 128 similar pairs" in text
    for line in (
        "| system | typos (n 40) | paper |",
        "| ngram | 0.500 [0.400, 0.600] | 0.99 |",
        "| 0 | 0.400 [0.350, 0.450] | 0.95 |",
        "| 1 | 0.700 [0.650, 0.750] | 0.99 |",
        "| 1-0 | typos | 1 | 0.300 [0.200, 0.400] | yes | 0.43 | 0.80 |",
        "| 1-0 | typos | 2 | 0.300 [-0.100, 0.400] | no |  | 0.80 |",
        f"| 4c-3 | extra_words/{LABEL} | 1 |  | -0.050 | 30 | no |",
        "| 1-0 | 2 | 0.300 [-0.100, 0.400] |",
        "| test | ngram | 0 | 1 |",
    ):
        assert line in text.splitlines()


def test_every_workspace_that_ran_replaces_its_own_rows(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace)
    (workspace / ".workspaces/empty").mkdir(parents=True)
    assert workspaces(workspace) == {"sample": workspace}
    out = tmp_path / "results"
    replace_rows([{**row, "value": 9.0} for row in rows("sample", workspace, "m")], out)
    main(["--machine", "a GPU"], out)
    written = read_rows(out / "table3.csv")
    assert {row["machine"] for row in written} == {"a GPU"}
    assert "9" not in {row["value"] for row in written}
