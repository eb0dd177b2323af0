"""The stage `similarity` on toy predictions, its page, and the files of trained systems."""

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from params_of import write_params

from tasks.evaluation.metric_tables import read_table
from tasks.io.frames import check
from tasks.papers.similarity import scored_pairs, similarity_code, similarity_train
from tasks.papers.similarity import similarity as stage
from tasks.papers.similarity.pair_files import PARAPHRASED, SCORED_PAIRS
from tasks.papers.similarity.similarity import DIFFERENCES, TABLE, as_markdown, similarity

ROOT = Path(__file__).parents[4]
PAIRS = pl.DataFrame(
    [
        ("sick", "test", "a", "b", 0.0),
        ("sick", "test", "a", "c", 0.5),
        ("sick", "test", "a", "d", 1.0),
        ("msrp", "valid", "e", "f", 0.0),
        ("msrp", "valid", "e", "g", 1.0),
        ("msrp", "test", "e", "h", 0.0),
        ("msrp", "test", "e", "i", 1.0),
        ("msrp", "test", "e", "j", 1.0),
        ("sts2012/OnWN", "test", "k", "l", 0.0),
        ("sts2012/OnWN", "test", "k", "m", 1.0),
        ("sts2013/FNWN", "test", "n", "o", 0.0),
        ("sts2013/FNWN", "test", "n", "p", 0.4),
        ("sts2013/FNWN", "test", "n", "q", 0.8),
    ],
    schema=dict(SCORED_PAIRS),
    orient="row",
)
LSTM = [
    [0.2, 0.4, 0.6, 0.3, 0.5, 0.2, 0.3, 0.6, 0.1, 0.9, 0.1, 0.2, 0.3],
    [0.0, 0.5, 1.0, 0.3, 0.5, 0.2, 0.6, 0.6, 0.1, 0.9, 0.3, 0.2, 0.1],
]
ATTENTIVE = [[0.0, 0.5, 1.0, 0.3, 0.5, 0.2, 0.6, 0.6, 0.1, 0.9, 0.1, 0.2, 0.3]] * 2
BAG = [[0.1, 0.3, 0.2, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.1, 0.2, 0.3]] * 2
SYSTEMS = {"lstm": "sick", "attentive_lstm": "sick", "ngram_bag": PARAPHRASED}


@pytest.fixture(scope="module")
def made() -> tuple[pl.DataFrame, pl.DataFrame]:
    said = {"lstm": LSTM, "attentive_lstm": ATTENTIVE, "ngram_bag": BAG}
    predictions = {name: np.array(scores) for name, scores in said.items()}
    return similarity(PAIRS, predictions, SYSTEMS, 200, 1)


def row(frame: pl.DataFrame, system: str, test: str, metric: str) -> dict[str, Any]:
    keys = {"system": system, "test": test, "metric": metric}
    (only,) = frame.filter(*(pl.col(k) == v for k, v in keys.items())).iter_rows(named=True)
    return only


def test_golden_figures(made: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    """Seed 1 of lstm on sick: errors 0.2, −0.1, −0.4: (0.04 + 0.01 + 0.16) / 3 = 0.07; seed 2: 0.

    Mean 0.035, deviation 0.07 / √2. r of both seeds 1 on sick; on FNWN 1 and −1: mean 0. OnWN: 1.
    The mean over the two STS sets 0.5, with (1, 0) by seed. On msrp the threshold is 0.4 by the
    validation pairs: 0.2 no, 0.3 no, 0.6 yes: 2 of 3; seed 2 is right on all: mean 5/6.
    """
    check(made[0], TABLE, "table")
    error = row(made[0], "lstm", "sick", "mean_squared_error")
    assert (error["value"], error["n"], error["seeds"]) == (0.035, 3, 2)
    assert error["deviation"] == pytest.approx(0.07 / math.sqrt(2), abs=1e-6)
    assert (error["smallest"], error["largest"]) == (0, 0.07)
    assert row(made[0], "lstm", "sick", "pearson")["value"] == 1
    assert row(made[0], "lstm", "sts2013/FNWN", "pearson")["value"] == 0
    mean = row(made[0], "lstm", "sts_mean", "pearson")
    assert (mean["value"], mean["smallest"], mean["largest"], mean["n"]) == (0.5, 0, 1, 5)
    hits = row(made[0], "lstm", "msrp", "accuracy")
    assert (hits["value"], hits["n"]) == (pytest.approx(5 / 6, abs=1e-6), 3)
    assert hits["low"] <= hits["value"] <= hits["high"]


def test_which_measures_there_are(made: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    """No squared error without trained scores; accuracy of the set with 0 and 1 alone."""
    both = ["pearson", "spearman"]
    for system, data in SYSTEMS.items():
        mine = made[0].filter(pl.col("system") == system)
        assert set(mine["trained_on"]) == {data}
        measures = {test: group["metric"].to_list() for (test,), group in mine.group_by("test")}
        by_scores = [*both, "mean_squared_error"] if data != PARAPHRASED else both
        rest = dict.fromkeys(("sick", "sts2012/OnWN", "sts2013/FNWN", "sts_mean"), by_scores)
        assert measures == rest | {"msrp": [*by_scores, "accuracy"]}


def test_what_is_not_defined_is_missing(made: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    """The bag says the same of both OnWN pairs; the mean over the sets has no value either."""
    for test in ("sts2012/OnWN", "sts_mean"):
        empty = row(made[0], "ngram_bag", test, "pearson")
        assert {empty[name] for name in ("value", "low", "high", "deviation")} == {None}
    assert row(made[0], "ngram_bag", "sts2013/FNWN", "pearson")["value"] == 1


def test_golden_differences(made: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    """attentive_lstm less lstm: FNWN 1 − 0, the STS mean 1 − 0.5, the error 0 − 0.035."""
    frame = check(made[1], DIFFERENCES, "differences")
    assert set(frame.select("system", "over").iter_rows()) == {("attentive_lstm", "lstm")}
    for test, metric, difference in (
        ("sts2013/FNWN", "pearson", 1.0),
        ("sts_mean", "pearson", 0.5),
        ("sick", "mean_squared_error", -0.035),
        ("msrp", "accuracy", pytest.approx(1 / 6, abs=1e-6)),
        ("sick", "pearson", 0.0),
    ):
        gain = row(frame, "attentive_lstm", test, metric)
        assert gain["difference"] == difference
        assert gain["low"] <= gain["difference"] <= gain["high"]


def test_the_page(made: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    """Words and sets where they belong; what is missing is an empty cell."""
    page = as_markdown(made[0], made[1])
    head, first, note, _, by_set, _, gains = page.strip().split("\n\n")
    assert head == "# Similarity: systems on pairs that people scored"
    columns = [cell.strip() for cell in first.splitlines()[0].strip("|").split("|")]
    tests = ["sick r (n 3)", "sick MSE, lower is better (n 3)", "msrp accuracy (n 3)"]
    assert columns == ["system", "trained on", *tests, "sts_mean r (n 5)"]
    cells = [cell.strip() for cell in first.splitlines()[2].strip("|").split("|")]
    assert cells[:2] == ["lstm", "sick"]
    assert cells[3].startswith("0.035 ±0.049 [")
    assert first.splitlines()[4].split("|")[4].strip() == ""
    assert note.startswith("Pearson's r")
    assert "| sts2013/FNWN | 3   | 0.000 | 1.000          | 1.000     |" in by_set
    assert "| sts2012/OnWN | 2   | 1.000 | 1.000          |           |" in by_set
    assert "| attentive_lstm | lstm |" in gains and "+0.500 [" in gains


@pytest.mark.thorough
def test_files_of_trained_systems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stages on the sample, from files; a system that has not been trained leaves none."""
    monkeypatch.chdir(tmp_path)
    params = write_params(scored_pairs={"folder": str(ROOT / "data/sample")})
    systems = params["similarity"]["systems"]
    del systems["attentive_lstm"]
    for system in systems.values():
        system["train"] |= {"max_steps": 2, "evaluate_every": 2}
    write_params(similarity={"seeds": [1, 2], "bootstrap_draws": 50, "systems": systems})
    scored_pairs.main()
    for name in systems:
        with pytest.raises(FileNotFoundError):
            stage.main()
        assert not Path("data/similarity").exists()
        monkeypatch.setattr(sys, "argv", ["", "--name", name])
        similarity_code.main()
        similarity_train.main()
    stage.main()
    table = read_table(Path("data/similarity/table.csv"), TABLE)
    assert set(table["system"]) == {"lstm", "ngram_bag"}
    assert set(table["test"]) == {"sample_sentences", "sample_words"}
    assert set(table["seeds"]) == {2}
    assert read_table(Path("data/similarity/differences.csv"), DIFFERENCES).is_empty()
    metrics = json.loads(Path("data/similarity/metrics.json").read_text())
    assert -1 <= metrics["ngram_bag"]["sample_words"]["spearman"] <= 1
    assert "# Similarity" in Path("data/similarity/similarity.md").read_text()
    errors = table.filter(pl.col("metric") == "mean_squared_error")
    assert set(errors["system"]) == {"lstm"}
