"""Finished workspaces: where their files lie, and the queries that networks are tested with.

The data set `sample` is the main tree, any other the workspace of the profile of that name. This
module alone knows the product's folders.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from models.network.model_files import load_model
from models.search.index import AliasIndex
from models.search.search import Search, Similarities
from tasks.check_params import AllParams, load_params
from tasks.evaluation.ranking import rank_queries
from tasks.evaluation.systems import network, read_index
from tasks.io.frames import read_frame
from tasks.io.queries import read_queries
from tasks.io.schemas import QUERIES, TITLES

DEFAULT, SAMPLE, VALID = "esco", "sample", "valid"


@dataclass(frozen=True)
class Exam:
    """Queries against the index that all systems search."""

    params: AllParams
    index: AliasIndex
    queries: pl.DataFrame
    """Schema `QUERIES`."""

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
        folder = place(dataset)
        return cls(dataset, folder, load_params(folder / "params.yaml"))

    @property
    def data(self) -> Path:
        """Folder of the stages' files."""
        return self.folder / "data"

    @property
    def seed(self) -> int:
        """Of the network that serves."""
        return self.params.seeds[0]

    @property
    def mix(self) -> str:
        """Of the network that serves."""
        return self.params.mix

    def pairs(self, mix: str) -> Path:
        """Return the folder of the pairs of a mix."""
        return self.data / "pairs" / mix

    def files(self, stage: str, mix: str, seed: int) -> Path:
        """Return the folder of a stage for the network of a mix and a seed."""
        return self.data / stage / mix / str(seed)

    def table(self, mix: str, seed: int) -> Path:
        """Return the figures of a network on the tests."""
        return self.files("evaluate", mix, seed) / "table.csv"

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


def place(dataset: str) -> Path:
    """Return the folder of a data set's workspace, be it there or not."""
    return Path() if dataset == SAMPLE else Path(".workspaces") / dataset


def data_folder() -> Path:
    """Return where the publishers' files lie: `$ROLECALL_DATA`, else beside the repository."""
    return Path(os.environ.get("ROLECALL_DATA", "../shared/data"))
