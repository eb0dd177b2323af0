"""What the report is made from: the frames of earlier stages and a way to embed titles.

`ReportData` holds everything, so that each section is a function of it and touches no file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tasks.io.frames import Schema

if TYPE_CHECKING:
    from jaxtyping import Float

    from models.ranking.evidence import Evidence
    from tasks.evaluation.params import EvaluateParams
    from tasks.pipeline.report.params import ReportParams
    from tasks.pipeline.train.network_params import NetworkParams

HISTORY: Schema = {
    "step": pl.Int64,
    "loss": pl.Float64,
    "loss_similar": pl.Float64,
    "loss_dissimilar": pl.Float64,
    "valid_score": pl.Float64,
}
Embed = Callable[[Sequence[str]], "Float[np.ndarray, 'title dim']"]


@dataclass(frozen=True)
class PageParams:
    """What the page needs of `params.yaml`; `reader` is that of the taxonomy."""

    mix: str
    seed: int
    train_seed: int
    reader: str
    network: NetworkParams
    evaluate: EvaluateParams
    report: ReportParams


@dataclass(frozen=True)
class ReportData:
    """Everything the report shows.

    Attributes:
        params: `params.mix` names the trained system.
        counts: `data/ingest/metrics.json`.
        occupations: schema `OCCUPATIONS`.
        aliases: schema `SPLIT_ALIASES`: all of the taxonomy, each with its split.
        titles: schema `TITLES`.
        queries: schema `QUERIES`, those of the part `test`.
        history: schema `HISTORY`; the losses of step 0 are NaN.
        run: schema `RUN`.
        scores: schema `SCORES`.
        table: schema `TABLE`.
        synonym_variants: schema `SYNONYM_VARIANTS`.
        extra_words_variants: schema `EXTRA_WORDS_VARIANTS`.
        made: `metrics.json` of `synonyms`, `extra_words` and, of the trained mix, `pairs`.
        judged: schema `JUDGED`; empty for a mix that learns from no feedback.
        words: schema `WORDS`; the same.
        evidence: what the trained system knows of inputs.
        weights: how many numbers the network has learned.
        embed: cleaned titles to embeddings of unit norm, one row a title.
    """

    params: PageParams
    counts: dict[str, Any]
    occupations: pl.DataFrame
    aliases: pl.DataFrame
    titles: pl.DataFrame
    queries: pl.DataFrame
    history: pl.DataFrame
    run: pl.DataFrame
    scores: pl.DataFrame
    table: pl.DataFrame
    synonym_variants: pl.DataFrame
    extra_words_variants: pl.DataFrame
    made: dict[str, dict[str, Any]]
    judged: pl.DataFrame
    reviews: pl.DataFrame
    evidence: Evidence
    weights: int
    embed: Embed

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
    def index(self) -> pl.DataFrame:
        """Distinct cleaned training titles and their occupations: `title, occupation_ids`."""
        train = self.titles.filter(pl.col("split") == "train")
        return train.select("title", "occupation_ids").sort("title")

    @cached_property
    def index_embeddings(self) -> Float[np.ndarray, "title dim"]:
        """Embeddings of the titles of `index`, in its order."""
        return self.embed(self.index["title"].to_list())
