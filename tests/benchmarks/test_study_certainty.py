"""The study of confidence on a toy: what is answered, what is right, and a missing calibration."""

from __future__ import annotations

import shutil
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from toy_workspace import JOBS, queries

from benchmarks.studies.certainty import measure as certainty
from benchmarks.studies.champion.certainty import NAMES
from models.answer.index import AliasIndex
from models.answer.occupation_scores import ScoreRule
from models.answer.search import Search
from tasks.files.frames import write_frame, write_json
from tasks.files.schemas import OCCUPATIONS, QUERIES

FRONTS = ("a ", "any ", "some ", "one ")
SURE = {"temperature": 0.1, "offsets": [0.0] * 5, "slopes": [1.0] * 5, "familiar": -9.0}


def knows_four(model: Path, index: AliasIndex, rule: ScoreRule, evidence: Path) -> Search:
    """Answer the first four jobs rightly and for sure, and for the last say hardly anything."""

    def similar(titles: Sequence[str]) -> np.ndarray:
        heard = [title.removeprefix(title.split()[0] + " ") for title in titles]
        rows = [[float(job == own and job in JOBS[:4]) for own in index.titles] for job in heard]
        return np.array(rows, np.float32)

    return Search(index, similar, rule)


def test_four_of_five_are_answered(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sure ones are right; of one in five nothing is known, whatever it is answered by chance."""
    workspace = shutil.copytree(toy, tmp_path / "toy")
    monkeypatch.chdir(workspace)
    file = workspace / "data/split/queries.parquet"
    asked = [
        queries("annotations", "test", front).with_columns(pl.col("query_id") + front)
        for front in FRONTS
    ]
    others = pl.read_parquet(file).filter(
        ~((pl.col("test") == "annotations") & (pl.col("part") == "test"))
    )
    write_frame(pl.concat([*asked, others]), file, QUERIES)
    codes = [(f"o{k}", job, ["1", f"1{k}", f"1{k}0", f"1{k}00"]) for k, job in enumerate(JOBS)]
    occupations = pl.DataFrame(codes, schema=dict(OCCUPATIONS), orient="row")
    write_frame(occupations, workspace / "data/ingest/occupations.parquet", OCCUPATIONS)
    fitted = workspace / "data/evidence/4c/1/calibration.json"
    write_json(SURE, fitted)
    monkeypatch.setattr(certainty, "answering", knows_four)
    monkeypatch.setattr(certainty.Workspace, "model", lambda *_: Path())
    (rows,) = certainty.measure("sample", Namespace())
    assert {(row.system, row.seed, row.n) for row in rows} == {("4c", 1, 20)}
    covered = {row.test: row.value for row in rows if row.metric == "coverage_at_90"}
    assert list(covered) == [f"annotations/certainty/{name}" for name in NAMES]
    assert covered.pop("annotations/certainty/major") == 1.0  # all are in one group
    assert set(covered.values()) == {0.85}  # 16 right ones, and one wrong: 16 of 17
    write_json(None, fitted)
    with pytest.raises(ValueError, match="too few inputs"):
        list(certainty.measure("sample", Namespace()))
