"""What training had to go by, as a first version's decision says it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from frames_of import queries_of

from tasks.io.frames import write_frame
from tasks.io.schemas import QUERIES
from tasks.release.gate.run_gate import what_training_saw


@pytest.mark.parametrize(
    ("scores", "queries", "words"),
    [
        ([0.5, 0.4, 0.5], 4, "no later look at the 4 validation queries was better than that at "),
        ([0.5, 0.6, 0.6], 4, "those of step 100, chosen by 4 validation queries, whose score is "),
        ([0.5, 0.6, 0.7], 0, "training had no validation queries"),
    ],
)
def test_what_training_saw(tmp_path: Path, scores: list[float], queries: int, words: str) -> None:
    """Equal looks keep the first, as training does."""
    rows = [
        (f"v{k}", "annotations", "valid", f"cook {k}", ["a"], 1, "input") for k in range(queries)
    ]
    rows.append(("g", "annotations", "gate", "baker", ["a"], 1, "input"))
    write_frame(queries_of(rows), tmp_path / "data/split/queries.parquet", QUERIES)
    looks = pl.DataFrame({"step": [0, 100, 200], "valid_score": scores})
    looks.write_csv(tmp_path / "history.csv")
    assert words in what_training_saw(tmp_path / "model", tmp_path / "data")


def test_steps_on_verdicts_are_named(tmp_path: Path) -> None:
    """No validation query judges them: the history has no score of theirs."""
    queries = queries_of([("v", "annotations", "valid", "cook", ["a"], 1, "input")])
    write_frame(queries, tmp_path / "data/split/queries.parquet", QUERIES)
    looks = pl.DataFrame({"step": [0, 100], "valid_score": [0.5, 0.6]})
    more = pl.DataFrame({"step": [160, 220], "valid_score": [float("nan")] * 2})
    for history, ends in ((looks, "only"), (pl.concat([looks, more]), "; 120 steps on people's")):
        history.write_csv(tmp_path / "history.csv")
        said = what_training_saw(tmp_path / "model", tmp_path / "data")
        assert said.startswith("the weights are those of step 100, chosen by 1 validation queries")
        assert said.removesuffix(" verdicts followed").endswith(ends)
