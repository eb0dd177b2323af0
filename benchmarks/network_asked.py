"""What the networks of a study are asked: every test of a workspace, and the validation queries.

The validation queries are those by which training judges, held-out aliases and labelled inputs of
that part; they make up the test `valid`. All systems search the same index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.machine import command, machine
from benchmarks.results_file import Row
from tasks.alias_index import AliasIndex
from tasks.frames import read_frame
from tasks.measured import read_index
from tasks.params import AllParams, load_params
from tasks.queries import read_queries
from tasks.schemas import QUERIES

VALID = "valid"


@dataclass(frozen=True)
class Asked:
    """Of one workspace."""

    dataset: str
    data: Path
    params: AllParams
    index: AliasIndex
    queries: pl.DataFrame
    """Schema `QUERIES`."""

    @classmethod
    def read(cls, dataset: str) -> Asked:
        """The main tree for `sample`, else the workspace of that profile.

        Raises:
            FileNotFoundError: a stage that writes queries has not run there.
        """
        workspace = Path() if dataset == "sample" else Path(".workspaces") / dataset
        data = workspace / "data"
        judging = read_frame(data / "split/queries.parquet", QUERIES).filter(part="valid")
        queries = pl.concat([read_queries("test", data), judging.with_columns(test=pl.lit(VALID))])
        params = load_params(workspace / "params.yaml")
        return cls(dataset, data, params, read_index(data), queries)

    def pairs(self, stage: str) -> Path:
        """The folder of the pairs of a stage."""
        return self.data / "pairs" / stage

    def titles(self, count: int) -> list[str]:
        """So many raw titles: those of the tests in their order, from the front again if few."""
        tests = self.queries.filter(pl.col("test") != VALID)["raw_title"].to_list()
        return (tests * -(-count // len(tests)))[:count]


def common(experiment: str, asked: Asked, options: dict[str, Any]) -> Row:
    """What all rows of a study have in common; `options` are those of the command."""
    before = "make reproduce && "
    if asked.dataset != "sample":
        before = f"ROLECALL_DATA=$ROLECALL_DATA make reproduce PROFILE={asked.dataset} && "
    wanted = command(experiment, dataset=asked.dataset, **options)
    named = {"experiment": experiment, "dataset": asked.dataset}
    return {**named, "machine": machine(), "command": before + wanted}


def whole(rows: Sequence[Row], shared: Row) -> list[Row]:
    """Rows as `benchmarks/results_file.py` takes them: no interval and no seed where none is."""
    return [{"low": None, "high": None, "seed": None, **shared, **row} for row in rows]
