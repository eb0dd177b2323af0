"""The data of the report: frames of earlier stages, and a function that embeds titles.

Each section is a function of `ReportData` and touches no file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from models.search.index import AliasIndex
from tasks.evaluation.systems import index_of
from tasks.pipeline.report.params import ReportParams

if TYPE_CHECKING:
    from jaxtyping import Float

    from models.search.exemplars import Exemplars
    from tasks.evaluation.params import EvaluateParams
    from tasks.pipeline.train.network_params import NetworkParams

Embed = Callable[[Sequence[str]], "Float[np.ndarray, 'title dim']"]


@dataclass(frozen=True)
class PageParams:
    """Parameters of the page; `reader` is the taxonomy's."""

    mix: str
    seed: int
    train_seed: int
    reader: str
    network: NetworkParams
    evaluate: EvaluateParams
    report: ReportParams


@dataclass(frozen=True)
class ReportData:
    """Everything on the page."""

    params: PageParams  # `params.mix` names the trained system
    counts: dict[str, Any]  # `data/ingest/metrics.json`
    occupations: pl.DataFrame  # schema `OCCUPATIONS`
    aliases: pl.DataFrame  # schema `SPLIT_ALIASES`: all of the taxonomy, each with its split
    titles: pl.DataFrame  # schema `TITLES`
    queries: pl.DataFrame  # schema `QUERIES`, those of the split `test`
    history: pl.DataFrame  # schema `HISTORY`; the losses of step 0 are NaN
    run: pl.DataFrame  # schema `RUN`
    scores: pl.DataFrame  # schema `SCORES`
    table: pl.DataFrame  # schema `TABLE`
    feedback: dict[str, Any] | None  # counts of the stage `feedback`, if the mix learns from it
    judged: pl.DataFrame  # schema `JUDGED`; empty for a mix that learns from no feedback
    reviews: pl.DataFrame  # schema `REVIEWS`; the same
    exemplars: Exemplars  # priors and exemplars of the trained system
    weights: int  # the number of the network's parameters
    embed: Embed  # cleaned titles to embeddings of unit norm, one row a title

    @property
    def trained(self) -> str:
        """The trained system's name in every frame: its mix."""
        return self.params.mix

    @cached_property
    def labels(self) -> dict[str, str]:
        """`occupation_id` to `occupation_label`."""
        return dict(self.occupations.select("occupation_id", "occupation_label").iter_rows())

    def label(self, occupation_id: str) -> str:
        """Return the label, or the id itself if the taxonomy does not hold it."""
        return self.labels.get(occupation_id, occupation_id)

    @cached_property
    def index(self) -> AliasIndex:
        """The index of all systems."""
        return index_of(self.titles)

    @cached_property
    def index_embeddings(self) -> Float[np.ndarray, "title dim"]:
        """Embeddings of the titles of `index`, in its order."""
        return self.embed(self.index.titles)
