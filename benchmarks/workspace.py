"""Finished workspaces and the job board: where files lie, and the queries of studies.

The data set `sample` is the main tree, any other the workspace of the profile of that name. The
titles of the job board are divided in halves by the hash of the normalized title.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import polars as pl
import yaml

from models.network.kinds import load_model
from models.serving.index import AliasIndex
from models.serving.search import Search, Similarities
from tasks.check_params import AllParams, load_params
from tasks.evaluation.ranking import rank_queries
from tasks.evaluation.systems import network, read_index
from tasks.io.frames import read_frame
from tasks.io.mixes import read_queries
from tasks.io.schemas import QUERIES, TITLES
from tasks.io.title_readings import with_readings
from tasks.pipeline.ingest.stage import InputsParams, read_inputs
from tasks.tables.rejected import RejectedRows

DEFAULT, SAMPLE, VALID = "esco", "sample", "valid"
FILE = "jobbert/titles.csv"
COLUMNS = {"raw_title": "vacancyTitle", "occupation_id": "conceptUri"}
FOLDS = 5
CODE = Path(__file__).resolve().parents[1]
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
"""The environment of a process that is timed, or runs beside others."""


@dataclass(frozen=True)
class Exam:
    """Queries against the index that all systems search."""

    params: AllParams
    index: AliasIndex
    queries: pl.DataFrame  # schema `QUERIES`

    def scores(self, similarities: Similarities) -> pl.DataFrame:
        """Return schema `SCORES` without the system: a value per query and metric."""
        params = self.params.evaluate
        search = Search(self.index, similarities, params.rule)
        return rank_queries("", search, self.queries, params.run_depth)[0].drop("system")

    def answers(self, model: Path) -> pl.DataFrame:
        """Return the same of the network in a folder."""
        return self.scores(network(*load_model(model), self.index.titles))


@dataclass(frozen=True)
class Workspace:
    """One folder in which the pipeline has run."""

    dataset: str
    folder: Path
    params: AllParams

    @classmethod
    def read(cls, dataset: str) -> Workspace:
        """Read the parameters of a data set's workspace."""
        folder = folder_of(dataset)
        return cls(dataset, folder, load_params(folder / "params.yaml"))

    @property
    def data(self) -> Path:
        """Folder of the stages' files."""
        return self.folder / "data"

    @property
    def seed(self) -> int:
        """Of the network that serves."""
        seeds: list[int] = self.params.seeds
        return seeds[0]

    def pairs(self, mix: str) -> Path:
        """Return the folder of the pairs of a mix."""
        return self.data / "pairs" / mix

    def files(self, stage: str, mix: str, seed: int) -> Path:
        """Return the folder of a stage for the network of a mix and a seed."""
        return self.data / stage / mix / str(seed)

    def model(self, mix: str, seed: int) -> Path:
        """Return the folder of a network."""
        folder = self.files("train", mix, seed) / "model"
        if not (folder / "weights.safetensors").is_file():
            raise FileNotFoundError(f"{folder} is missing: run `make reproduce`")
        return folder

    @property
    def aliases(self) -> AliasIndex:
        """Every title of the taxonomy, those that its own tests hold out too."""
        owned = read_frame(self.data / "split/titles.parquet", TITLES).explode("occupation_ids")
        columns = (owned[name].to_list() for name in ("title", "occupation_ids", "language"))
        return AliasIndex.of(*columns)

    def exam(self) -> Exam:
        """Return every test, and the validation queries as the test `valid`."""
        validation = read_frame(self.data / "split/queries.parquet", QUERIES).filter(split="valid")
        tests = read_queries("test", self.data)
        queries = pl.concat([tests, validation.with_columns(test=pl.lit(VALID))])
        return Exam(self.params, read_index(self.data), queries)


def folder_of(dataset: str) -> Path:
    """Return the folder of a data set's workspace, be it there or not."""
    return Path() if dataset == SAMPLE else Path(".workspaces") / dataset


def data_folder() -> Path:
    """Return the folder of the publishers' files: `$ROLECALL_DATA`, or beside the repository."""
    return Path(os.environ.get("ROLECALL_DATA", "../shared/data"))


def stage_module(name: str) -> str:
    """Return the module that runs a stage, as `dvc.yaml` names it."""
    stage = yaml.safe_load((CODE / "dvc.yaml").read_text(encoding="utf-8"))["stages"][name]
    command: str = stage.get("do", stage)["cmd"]
    return command.partition("python -m ")[2].split()[0]


class Halves(NamedTuple):
    """Frames of `query_id, raw_title, occupation_id, cleaned, normalized`; no title is in both."""

    known: pl.DataFrame  # a model may learn from them
    queried: pl.DataFrame  # figures are of them


def read_halves(folder: Path, index: AliasIndex, half: str) -> Halves:
    """Read the titles whose occupation is in the index, from the folder of publishers' files.

    `half`: `odd` knows the even half; `even` queries that; `choice` queries a fifth of that.
    """
    file = str(folder / FILE)
    params = InputsParams(reader="table", file=file, columns=COLUMNS, delimiter="", encoding="")
    rows = read_inputs(params, set(index.occupations), RejectedRows())
    query_id = pl.format("jobbert-{}", "input_id").alias("query_id")
    titles = with_readings(rows.select(query_id, "raw_title", "occupation_id"))
    hashes = [hashlib.sha256(name.encode()).digest() for name in titles["normalized"]]
    odd = pl.Series([digest[-1] % 2 == 1 for digest in hashes])
    if half == "odd":
        return Halves(titles.filter(~odd), titles.filter(odd))
    if half == "even":
        return Halves(titles.clear(), titles.filter(~odd))
    fold = pl.Series([digest[0] % FOLDS == 0 for digest in hashes])
    return Halves(titles.filter(~odd & ~fold), titles.filter(~odd & fold))
