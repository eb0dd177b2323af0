"""From inputs to evidence: how likely each occupation is, and exemplars."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from models.ranking.evidence import posterior
from models.ranking.index import AliasIndex
from models.ranking.search import Search
from models.reproducibility.progress import Progress
from tasks.io.schemas import EXEMPLARS, PRIOR
from tasks.pipeline.calibrate.known_inputs import Known
from tasks.pipeline.calibrate.params import CalibrateParams

NAMED = ("title", "occupation_id")
RAREST = 1e-9
"""A chance below this counts as this, so that a prior without labels stays finite."""


class Evidenced(NamedTuple):
    """Schemas `PRIOR` and `EXEMPLARS`."""

    prior: pl.DataFrame
    exemplars: pl.DataFrame


def gather(
    search: Search, known: Known, params: CalibrateParams, temperature: float, label: str = ""
) -> Evidenced:
    """Return how likely occupations are, and the exemplars, of a network without evidence."""
    index = search.index
    size = len(index.occupations)
    bare = known.bare if params.prior_power or params.guess_weight else []
    total = np.zeros(size)
    for _, chances in _chances(search, bare, np.zeros(size), temperature, f"{label}: bare inputs"):
        total += chances.sum(axis=0)
    expected = total / len(bare) if bare else np.full(size, 1 / size)
    code = {name: number for number, name in enumerate(index.occupations)}
    named = known.labelled.filter(pl.col("occupation_id").is_in(index.occupations))
    labels = np.array([code[name] for name in named["occupation_id"]], np.int64)
    counts = np.bincount(labels, named["count"].to_numpy(), minlength=size)
    before = params.pseudo_count * size
    chance = (counts + before * expected) / (counts.sum() + before)
    bias = params.prior_power * temperature * np.log(np.maximum(chance, RAREST) * size)
    prior = pl.DataFrame(
        {"occupation_id": index.occupations, "chance": chance, "bias": bias.astype(np.float32)},
        schema=dict(PRIOR),
    )
    labelled = named.select(*NAMED, weight=params.label_weight * pl.col("count"))
    unlabelled = bare if params.guess_weight else []
    exemplars = [
        labelled.cast({"weight": pl.Float32}),
        *(
            guesses(unlabelled[place], chances, index, params)
            for place, chances in _chances(
                search, unlabelled, bias, temperature, f"{label}: guesses"
            )
        ),
    ]
    return Evidenced(prior, pl.concat(exemplars).filter(pl.col("weight") > 0))


def guesses(
    titles: list[str], chances: np.ndarray, index: AliasIndex, params: CalibrateParams
) -> pl.DataFrame:
    """Return schema `EXEMPLARS`: each title with its likeliest occupations, weighed by chance."""
    kept = min(params.guesses, len(index.occupations))
    best = np.argsort(-chances, axis=1, kind="stable")[:, :kept]
    weights = params.guess_weight * np.take_along_axis(chances, best, axis=1)
    return pl.DataFrame(
        {
            "title": np.repeat(np.array(titles, object), kept),
            "occupation_id": np.array(index.occupations, object)[best.reshape(-1)],
            "weight": weights.reshape(-1).astype(np.float32),
        },
        schema=dict(EXEMPLARS),
    )


def _chances(
    search: Search, titles: list[str], bias: np.ndarray, temperature: float, label: str
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the posterior of block after block of titles [title, occupation], with its place."""
    progress = Progress(label, len(titles))
    for place, hits in search.blocks(titles, 1):
        yield place, posterior(hits.scores + bias, temperature)
        progress(place.stop)
