"""The data of the report: frames of earlier stages, and the trained system, ready to answer.

Each section is a function of `ReportData` and touches no file.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from models.metrics.intervals import Interval, bootstrap_interval
from models.reproducibility import child_seed
from models.serving.confidence import OodScore
from models.text.words import TitleWords

if TYPE_CHECKING:
    from models.serving.search import Search
    from tasks.evaluation.systems import EvaluateParams
    from tasks.pipeline.train_params import TrainParams


@dataclass(frozen=True)
class ReportData:
    """Everything on the page."""

    mix: str  # also the trained system's name in every frame
    seed: int
    reader: str  # of the taxonomy
    train: TrainParams
    evaluate: EvaluateParams
    most_confusions: int  # rows of that table
    counts: dict[str, Any]  # `data/ingest/metrics.json`
    occupations: pl.DataFrame  # schema `OCCUPATIONS`
    aliases: pl.DataFrame  # schema `SPLIT_ALIASES`: all of the taxonomy, each with its split
    queries: pl.DataFrame  # schema `QUERIES`, those of the split `test`
    history: pl.DataFrame  # schema `HISTORY`; the losses of step 0 are NaN
    run: pl.DataFrame  # schema `RUN`
    scores: pl.DataFrame  # schema `SCORES`
    table: pl.DataFrame  # schema `TABLE`
    feedback: dict[str, Any] | None  # counts of the stage `feedback`, if the mix learns from it
    resolutions: pl.DataFrame  # schema `RESOLUTIONS`; empty for a mix without feedback
    verdicts: pl.DataFrame  # schema `VERDICTS`; the same
    calibration: dict[str, Any]  # counts of the stage `calibrate`
    ood_threshold: float | None  # titles with a higher score get no answer; without calibration all
    search: Search  # the trained system, with its exemplars

    @cached_property
    def labels(self) -> dict[str, str]:
        """`occupation_id` to `occupation_label`."""
        return dict(self.occupations.select("occupation_id", "occupation_label").iter_rows())

    def label(self, occupation_id: str) -> str:
        """Return the label, or the id itself if the taxonomy does not hold it."""
        return self.labels.get(occupation_id, occupation_id)

    def interval(self, values: pl.Series, *names: str) -> Interval:
        """Return the mean of values with its 95 % interval; `names` tell its draws apart."""
        seed = child_seed(self.seed, "report", *names)
        return bootstrap_interval(values.to_numpy(), self.evaluate.bootstrap_draws, seed)

    def answers(self, titles: list[str], ood_threshold: float | None = None) -> pl.Series:
        """Answer each cleaned title; empty if it is less like a job title than `ood_threshold`."""
        index = self.search.index
        if ood_threshold is not None:
            ood_score = OodScore(frozenset(index.titles), TitleWords.of(index.titles).endings)
        answers: list[str] = []
        for block, hits in self.search.blocks(titles, 1):
            names = [index.occupations[first] for first in hits.occupations[:, 0]]
            if ood_threshold is not None:
                unlike = ood_score(titles[block], hits.top_similarity) > ood_threshold
                names = ["" if one else name for one, name in zip(unlike, names, strict=True)]
            answers += names
        return pl.Series(answers, dtype=pl.String)
