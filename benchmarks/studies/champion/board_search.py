"""Networks of a workspace queried with titles of a job board, with and without its known titles."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from benchmarks.job_board import Halves
from benchmarks.systems import CHAMPION
from benchmarks.workspace import Workspace
from models.search.exemplars import Exemplars
from models.search.index import AliasIndex
from models.search.search import Search, Similarities
from tasks.evaluation.ranking import rank_queries
from tasks.io.frames import read_frame
from tasks.io.mixes import LAST
from tasks.io.queries import queried_strings
from tasks.io.schemas import JUDGED, SPLIT_INPUTS
from tasks.pipeline.calibrate.fit_prior import Known, gather, known_inputs
from tasks.pipeline.calibrate.params import CalibrateParams
from tasks.release.model_package.quantized_network import QuantizedNetwork

NO_LABELS = pl.DataFrame(schema={"title": pl.String, "occupation_id": pl.String, "count": pl.Int64})


@dataclass(frozen=True)
class BoardSearch:
    """Known and queried titles, and the workspace whose networks answer."""

    workspace: Workspace
    index: AliasIndex
    halves: Halves
    options: argparse.Namespace

    def similarities(self, model: Path, titles: Sequence[str]) -> Similarities:
        """Return a network as it is registered, compared with titles."""
        precision = self.workspace.params.register_.precision
        return QuantizedNetwork.of(model, precision).similarities(titles)

    def values(self, test: str, search: Search) -> pl.DataFrame:
        """Return `test, query_id` and each metric of the queried titles; ties count in the mean."""
        gold = pl.concat_list("occupation_id").alias("occupation_ids")
        queries = self.halves.queried.with_columns(gold, test=pl.lit(test))
        return rank_queries(CHAMPION, search, queries, 1)[0].drop("system")

    def search(
        self,
        model: Path,
        known: Known | None = None,
        weights: CalibrateParams | None = None,
    ) -> Search:
        """Search the index of all aliases with a network as it is registered, and with inputs."""
        rule = self.workspace.params.evaluate.rule
        plain = Search(self.index, self.similarities(model, self.index.titles), rule)
        if known is None:
            return plain
        weights = weights or self.workspace.params.calibrate
        made = gather(plain, known, weights, rule.temperature, CHAMPION)
        bias = dict(made.prior.select("occupation_id", "bias").iter_rows())
        exemplars = made.exemplars.to_dict(as_series=False)
        learned = Exemplars.of(self.index, bias, exemplars, rule.temperature)
        titles = [*self.index.titles, *learned.titles]
        return Search(self.index, self.similarities(model, titles), rule, learned)

    def unjudged(self, values: pl.DataFrame) -> pl.DataFrame:
        """Return the values of those titles whose occupation no known label names."""
        named = set(self.halves.known["occupation_id"])
        queried = self.halves.queried.filter(~pl.col("occupation_id").is_in(named))
        rows = values.filter(pl.col("query_id").is_in(queried["query_id"].implode()))
        return rows.with_columns(test=pl.lit("unjudged"))

    @cached_property
    def inputs(self) -> Known:
        """The workspace's own inputs, without labels, as the registered model has them."""
        data = self.workspace.data
        inputs = read_frame(data / "split/inputs.parquet", SPLIT_INPUTS)
        nobody = pl.DataFrame(schema=dict(JUDGED))
        return known_inputs(LAST, inputs, nobody, queried_strings(data))

    @property
    def weights(self) -> CalibrateParams:
        """Weights of the board's known titles, higher than those of inputs."""
        names = ("prior_power", "prediction_weight")
        changes = {name: getattr(self.options, name) for name in names}
        return self.workspace.params.calibrate.model_copy(update=changes)

    @property
    def bare(self) -> Known:
        """The known titles without their labels."""
        return Known(self.halves.known["cleaned"].unique(maintain_order=True).to_list(), NO_LABELS)

    @property
    def labelled(self) -> Known:
        """The known titles with their labels, counted."""
        titles = self.halves.known.select(pl.col("cleaned").alias("title"), "occupation_id")
        counted = titles.group_by("title", "occupation_id", maintain_order=True).len("count")
        return Known([], counted.cast({"count": pl.Int64}))
