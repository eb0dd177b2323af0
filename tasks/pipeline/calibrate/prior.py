"""From the inputs that a mix may know to the prior of each occupation and to exemplars.

Mixes before the last source know no input. Later ones know unlabelled inputs: their mean posterior
is the prior (one step of expectation maximization, Dempster et al. 1977; more steps sharpen it too
much, `docs/LOG.md`), and each is an exemplar of its likeliest occupations. Mixes with feedback know
verdicts too: judged titles are exemplars of their occupation, and count.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field

from models.reproducibility import Progress
from models.serving.index import AliasIndex
from models.serving.scores import LABEL, MODEL, REVIEW, exp_below
from models.serving.search import Search
from tasks.io.mixes import CORRECTIONS, LAST, MIXES
from tasks.io.schemas import EXEMPLARS, PRIOR
from tasks.io.section import Count, Section, Share

RAREST = 1e-9  # a chance below this counts as this, so that a prior without labels stays finite
OFF = 1e-3  # by how much the chances of a stored prior miss 1 at most

NO_LABELS = pl.DataFrame(schema={"title": pl.String, "occupation_id": pl.String})


class CalibrateParams(Section):
    """Section `calibrate`: how much inputs weigh beside the aliases of the taxonomy."""

    NAME: ClassVar[str] = "calibrate"
    prior_power: Share
    auxiliary_titles: Annotated[int, Field(ge=0)]
    pseudo_count: Annotated[float, Field(gt=0)]
    label_weight: Annotated[float, Field(ge=0)]
    input_label_weight: Annotated[float, Field(ge=0)]
    prediction_weight: Annotated[float, Field(ge=0)]
    predictions_per_input: Count
    max_false_rejection_rate: Share


class Known(NamedTuple):
    """Inputs by what is known of them, each distinct title once."""

    bare: list[str]  # cleaned titles
    labelled: pl.DataFrame  # `title, occupation_id, count`: people reviewed them
    came_labelled: pl.DataFrame = NO_LABELS  # `title, occupation_id`: of the file, for `bare`
    auxiliary: Sequence[str] = ()  # cleaned titles of a second taxonomy, for the prior alone


def known_inputs(
    mix: str, inputs: pl.DataFrame, resolutions: pl.DataFrame, queries: Container[str]
) -> Known:
    """Return what a mix may know of `SPLIT_INPUTS` and `RESOLUTIONS`; no normalized query."""
    if MIXES.index(mix) < MIXES.index(LAST):
        inputs, resolutions = inputs.clear(), resolutions.clear()
    confirmed = resolutions.filter(~pl.col("held_out")).drop_nulls("occupation_id")
    if mix != CORRECTIONS:
        confirmed = confirmed.filter(pl.col("resolution") == "correct")
    named = confirmed.select(pl.col("cleaned").alias("title"), "occupation_id")
    labelled = named.unique(maintain_order=True).with_columns(count=pl.lit(1))
    free = inputs.filter(pl.col("split").is_in(["train", "unlabelled"]) & (pl.col("cleaned") != ""))
    taken = {*resolutions.filter("held_out")["normalized"], *confirmed["normalized"]}
    distinct = free.unique("cleaned", maintain_order=True)
    known = [name not in queries and name not in taken for name in distinct["normalized"]]
    kept = distinct.filter(pl.Series(known, dtype=pl.Boolean))
    bare = kept.select(pl.col("cleaned").alias("title"), "occupation_id")
    return Known(bare["title"].to_list(), labelled, bare.drop_nulls())


def auxiliary_titles(titles: pl.DataFrame, count: int, rng: np.random.Generator) -> list[str]:
    """Draw `count` titles of schema `AUXILIARY_TITLES`, without noisy copies; all if too few."""
    clean = titles.filter(~pl.col("noisy"))["title"]
    drawn = rng.permutation(len(clean))[:count]
    return clean.gather(np.sort(drawn)).to_list()


class PriorAndExemplars(NamedTuple):
    """Schemas `PRIOR` and `EXEMPLARS`."""

    prior: pl.DataFrame
    exemplars: pl.DataFrame


def gather(
    search: Search, known: Known, params: CalibrateParams, temperature: float, label: str = ""
) -> PriorAndExemplars:
    """Return how likely occupations are, and the exemplars, of a network that has none yet."""
    index, size = search.index, len(search.index.occupations)
    bare = known.bare if params.prior_power or params.prediction_weight else []
    counted = [*bare, *known.auxiliary]
    total = np.zeros(size)
    for _, chances in _chances(search, counted, np.zeros(size), temperature, f"{label}: prior"):
        total += chances.sum(axis=0)
    expected = total / len(counted) if counted else np.full(size, 1 / size)
    code = {name: number for number, name in enumerate(index.occupations)}
    in_index = pl.col("occupation_id").is_in(index.occupations)
    named = known.labelled.filter(in_index)
    labels = np.array([code[name] for name in named["occupation_id"]], np.int64)
    counts = np.bincount(labels, named["count"].to_numpy(), minlength=size)
    mass = counts + params.pseudo_count * size * expected
    bias = _bias(mass, params, temperature)
    values = {"occupation_id": index.occupations, "chance": mass / mass.sum(), "bias": bias}
    prior = pl.DataFrame(values, schema=dict(PRIOR))
    weight = (params.label_weight * pl.col("count")).cast(pl.Float32)
    of_labels = pl.lit(params.input_label_weight, pl.Float32)
    exemplars = [
        named.select("title", "occupation_id", weight=weight, source=pl.lit(REVIEW)),
        known.came_labelled.filter(in_index).with_columns(weight=of_labels, source=pl.lit(LABEL)),
    ]
    unlabelled = bare if params.prediction_weight else []
    chances_of = _chances(search, unlabelled, bias, temperature, f"{label}: predictions")
    for block, chances in chances_of:
        exemplars.append(predicted(unlabelled[block], chances, index, params))
    return PriorAndExemplars(prior, pl.concat(exemplars).filter(pl.col("weight") > 0))


def recounted(
    bias: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    params: CalibrateParams,
    temperature: float,
) -> np.ndarray:
    """Return a prior's bias [occupation] with the reviews `after` counted instead of `before`.

    A prior of another power than that of `params` stays.
    """
    scale, size = params.prior_power * temperature, len(bias)
    if not scale or not bias.any():
        return bias
    chances = np.exp(bias.astype(np.float64) / scale) / size
    if abs(chances.sum() - 1) > OFF:
        return bias
    total = before.sum() + params.pseudo_count * size
    unreviewed = chances * total - before
    return _bias(np.maximum(unreviewed, 0) + after, params, temperature)


def _bias(mass: np.ndarray, params: CalibrateParams, temperature: float) -> np.ndarray:
    """Return what a prior with these counts [occupation] adds to the scores."""
    chance = np.maximum(mass / mass.sum(), RAREST)
    bias = params.prior_power * temperature * np.log(chance * len(mass))
    return np.asarray(bias, np.float32)


def predicted(
    titles: list[str], chances: np.ndarray, index: AliasIndex, params: CalibrateParams
) -> pl.DataFrame:
    """Return schema `EXEMPLARS`: each title with its likeliest occupations, weighed by chance."""
    kept = min(params.predictions_per_input, len(index.occupations))
    best = np.argsort(-chances, axis=1, kind="stable")[:, :kept]
    weights = params.prediction_weight * np.take_along_axis(chances, best, axis=1)
    return pl.DataFrame(
        {
            "title": np.repeat(np.array(titles, object), kept),
            "occupation_id": np.array(index.occupations, object)[best.reshape(-1)],
            "weight": weights.reshape(-1).astype(np.float32),
            "source": MODEL,
        },
        schema=dict(EXEMPLARS),
    )


def _chances(
    search: Search, titles: list[str], bias: np.ndarray, temperature: float, label: str
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the posterior of block after block of titles [title, occupation], with its slice."""
    progress = Progress(label, len(titles))
    for block, hits in search.blocks(titles, 1):
        yield block, posterior(hits.scores + bias, temperature)
        progress(block.stop)


def posterior(scores: np.ndarray, temperature: float) -> np.ndarray:
    """Return the chances of the occupations that scores [query, occupation] speak of: softmax."""
    powers = exp_below(scores.max(axis=1, keepdims=True), scores.copy("K"), temperature)
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
