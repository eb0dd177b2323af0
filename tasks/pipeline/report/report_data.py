"""The data of the report: frames of earlier stages, and the trained system, ready to answer.

Each section is a function of `ReportData` and touches no file.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from tasks.pipeline.report.params import ReportParams

if TYPE_CHECKING:
    from models.search.search import Search
    from tasks.evaluation.params import EvaluateParams
    from tasks.pipeline.train.params import TrainParams


@dataclass(frozen=True)
class PageParams:
    """Parameters of the page; `reader` is the taxonomy's."""

    mix: str
    seed: int
    train_seed: int
    reader: str
    train: TrainParams
    evaluate: EvaluateParams
    report: ReportParams


@dataclass(frozen=True)
class ReportData:
    """Everything on the page."""

    params: PageParams  # `params.mix` names the trained system
    counts: dict[str, Any]  # `data/ingest/metrics.json`
    occupations: pl.DataFrame  # schema `OCCUPATIONS`
    aliases: pl.DataFrame  # schema `SPLIT_ALIASES`: all of the taxonomy, each with its split
    queries: pl.DataFrame  # schema `QUERIES`, those of the split `test`
    history: pl.DataFrame  # schema `HISTORY`; the losses of step 0 are NaN
    run: pl.DataFrame  # schema `RUN`
    scores: pl.DataFrame  # schema `SCORES`
    table: pl.DataFrame  # schema `TABLE`
    feedback: dict[str, Any] | None  # counts of the stage `feedback`, if the mix learns from it
    judged: pl.DataFrame  # schema `JUDGED`; empty for a mix that learns from no feedback
    reviews: pl.DataFrame  # schema `REVIEWS`; the same
    calibration: dict[str, Any]  # counts of the stage `calibrate`
    ood_threshold: float | None  # titles with a higher score get no answer; without calibration all
    search: Search  # the trained system, with its exemplars

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
