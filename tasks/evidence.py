"""What inputs say beside the taxonomy, for the network of mix K: evidence, and its calibration.

In: `data/train/K/SEED/model/`, `data/split/{titles,inputs}.parquet`, all queries, the occupations,
and what people judged (`data/pairs/K/judged.parquet`). Out, in `data/evidence/K/SEED/`:
`prior.parquet`, `exemplars.parquet`, `calibration.json` and counts.

Mixes 0 to 2 know no input. Mix 3 knows bare ones: their mean posterior is how likely occupations
are (one step of expectation maximization, Dempster et al. 1977; more steps sharpen it too much,
`docs/LOG.md`), and each is an exemplar of the occupations that the network guesses for it. Mixes 4
and 4c know verdicts too, whose titles are exemplars of the occupation that people gave, and count.

Confidence is fitted on the validation queries that are labelled inputs, else on held-out titles,
which are nearer to the taxonomy than inputs are; without enough of either the model stays
uncalibrated.
"""

from __future__ import annotations

import argparse
from collections.abc import Container, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field

from models.answer.calibration import Calibration, Levels, logit
from models.answer.evidence import posterior
from models.answer.index import AliasIndex
from models.answer.search import Search
from models.measures.platt import fitted
from models.network.model_files import load_model
from models.repeatable.progress import Progress
from tasks.evaluation.answering import answering
from tasks.evaluation.systems import EvaluateParams, network, read_index
from tasks.files.command import run
from tasks.files.counts import say
from tasks.files.frames import read_frame, write_frame, write_json
from tasks.files.queries import queried_strings, read_queries
from tasks.files.schemas import EXEMPLARS, JUDGED, OCCUPATIONS, PRIOR, SPLIT_INPUTS
from tasks.files.sources import CORRECTIONS, LAST, MIXES
from tasks.params.section import Count, Section, Share, load

CALIBRATED_ON = ("annotations", "heldout_alias")
"""Tests whose validation queries confidence is fitted on: the first that has enough."""
ENOUGH = 50
"""Queries: a twentieth of fewer is hardly a query."""
NAMED = ("title", "occupation_id")
RAREST = 1e-9
"""A chance below this counts as this, so that a prior without labels stays finite."""


class EvidenceParams(Section):
    """Section `evidence`: how much inputs weigh beside the aliases of the taxonomy."""

    NAME: ClassVar[str] = "evidence"
    prior_power: Share
    pseudo_count: Annotated[float, Field(gt=0)]
    label_weight: Annotated[float, Field(ge=0)]
    guess_weight: Annotated[float, Field(ge=0)]
    guesses: Count
    lost_share: Share


class Known(NamedTuple):
    """Inputs by what is known of them: cleaned titles, and (title, occupation_id, count)."""

    bare: list[str]
    labelled: pl.DataFrame


class Evidenced(NamedTuple):
    """Schemas `PRIOR` and `EXEMPLARS`."""

    prior: pl.DataFrame
    exemplars: pl.DataFrame


def known_inputs(
    mix: str, inputs: pl.DataFrame, judged: pl.DataFrame, queries: Container[str]
) -> Known:
    """Say which inputs a mix may know, each distinct title once, and none that any query asks.

    Args:
        mix: K.
        inputs: schema `SPLIT_INPUTS`.
        judged: schema `JUDGED`; empty but for the mixes that read feedback.
        queries: normalized strings of all queries.
    """
    if MIXES.index(mix) < MIXES.index(LAST):
        inputs, judged = inputs.clear(), judged.clear()
    confirmed = judged.filter(~pl.col("reserved")).drop_nulls("occupation_id")
    if mix != CORRECTIONS:
        confirmed = confirmed.filter(pl.col("fate") == "right")
    labelled = (
        confirmed.select(pl.col("cleaned").alias("title"), "occupation_id")
        .unique(maintain_order=True)
        .with_columns(count=pl.lit(1))
    )
    free = inputs.filter(pl.col("split").is_in(["train", "unlabelled"]) & (pl.col("cleaned") != ""))
    taken = {*judged.filter("reserved")["normalized"], *confirmed["normalized"]}
    names = free.unique("cleaned", maintain_order=True).select("cleaned", "normalized").rows()
    bare = [title for title, name in names if name not in queries and name not in taken]
    return Known(bare, labelled)


def gather(
    search: Search, known: Known, params: EvidenceParams, temperature: float, say_so: str = ""
) -> Evidenced:
    """Return how likely occupations are, and the exemplars.

    Args:
        search: the network without evidence.
        known: inputs.
        params: section `evidence`.
        temperature: of the posterior.
        say_so: what progress is said of.
    """
    index = search.index
    size = len(index.occupations)
    bare = known.bare if params.prior_power or params.guess_weight else []
    total = np.zeros(size)
    for _, chances in _chances(search, bare, np.zeros(size), temperature, f"{say_so}: bare inputs"):
        total += chances.sum(axis=0)
    expected = total / len(bare) if bare else np.full(size, 1 / size)
    code = {name: number for number, name in enumerate(index.occupations)}
    named = known.labelled.filter(pl.col("occupation_id").is_in(index.occupations))
    counts = np.zeros(size)
    labels = np.array([code[name] for name in named["occupation_id"]], np.int64)
    np.add.at(counts, labels, named["count"].to_numpy())
    before = params.pseudo_count * size
    chance = (counts + before * expected) / (counts.sum() + before)
    bias = params.prior_power * temperature * np.log(np.maximum(chance, RAREST) * size)
    prior = pl.DataFrame(
        {"occupation_id": index.occupations, "chance": chance, "bias": bias.astype(np.float32)},
        schema=dict(PRIOR),
    )
    told = named.select(*NAMED, weight=params.label_weight * pl.col("count"))
    asked = bare if params.guess_weight else []
    exemplars = [
        told.cast({"weight": pl.Float32}),
        *(
            guesses(asked[place], chances, index, params)
            for place, chances in _chances(search, asked, bias, temperature, f"{say_so}: guesses")
        ),
    ]
    return Evidenced(prior, pl.concat(exemplars).filter(pl.col("weight") > 0))


def guesses(
    titles: list[str], chances: np.ndarray, index: AliasIndex, params: EvidenceParams
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
    search: Search, titles: list[str], bias: np.ndarray, temperature: float, say_so: str
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the posterior of block after block of titles [title, occupation], with its place."""
    progress = Progress(say_so, len(titles))
    for place, hits in search.blocks(titles, 1):
        yield place, posterior(hits.scores + bias, temperature)
        progress(place.stop)


def calibrate(
    search: Search, queries: pl.DataFrame, hierarchy: Levels, temperature: float, lost_share: float
) -> Calibration:
    """Fit confidence at every level on queries with known occupations.

    Args:
        search: the network with its evidence.
        queries: schema `QUERIES`, one at least; of several right occupations any counts.
        hierarchy: of the index's occupations.
        temperature: of the posterior.
        lost_share: of the queries that may be called no job title.
    """
    shares, right, closest = [], [], []
    for place, hits in search.blocks(queries["cleaned"].to_list(), 1):
        answers = hits.occupations[:, 0]
        shares.append(hierarchy.shares(posterior(hits.scores, temperature), answers))
        gold = search.index.codes(queries[place]["occupation_ids"].to_list())
        right += [
            hierarchy.agree(np.full(len(codes), answer), np.array(codes, np.int64)).any(axis=0)
            for answer, codes in zip(answers, gold, strict=True)
        ]
        closest.append(hits.closest)
    of_level = zip(np.concatenate(shares).T, np.array(right).T, strict=True)
    offsets, slopes = zip(*(fitted(logit(share), hit) for share, hit in of_level), strict=True)
    familiar = float(np.quantile(np.concatenate(closest), lost_share)) if lost_share else -1.0
    return Calibration(temperature, offsets, slopes, familiar)


def calibration_queries(queries: pl.DataFrame) -> tuple[str, pl.DataFrame]:
    """Return the validation queries that confidence is fitted on, and their test; "" if too few."""
    for test in CALIBRATED_ON:
        rows = queries.filter(pl.col("test") == test)
        if len(rows) >= ENOUGH:
            return test, rows
    return "", queries.clear()


def levels(index: AliasIndex, occupations: pl.DataFrame) -> Levels:
    """Return the hierarchy above an index's occupations (schema `OCCUPATIONS`)."""
    codes = dict(occupations.select("occupation_id", "codes").iter_rows())
    return Levels.of([codes[name] for name in index.occupations])


def main() -> None:
    """Run the stage on its files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mix", required=True, choices=MIXES)
    parser.add_argument("--seed", type=int, required=True, help="that it was trained with")
    options = parser.parse_args()
    mix, place = options.mix, f"{options.mix}/{options.seed}"
    folder, model = Path(f"data/evidence/{place}"), Path(f"data/train/{place}/model")
    params, rule, index = load(EvidenceParams), load(EvaluateParams).rule, read_index()
    judged = read_frame(Path(f"data/pairs/{mix}/judged.parquet"), JUDGED)
    inputs = read_frame(Path("data/split/inputs.parquet"), SPLIT_INPUTS)
    known = known_inputs(mix, inputs, judged, queried_strings())
    featurizer, encoder = load_model(model)
    plain = Search(index, network(featurizer, encoder, index.titles), rule)
    made = gather(plain, known, params, rule.temperature, mix)
    write_frame(made.prior, folder / "prior.parquet", PRIOR)
    write_frame(made.exemplars, folder / "exemplars.parquet", EXEMPLARS)
    test, queries = calibration_queries(read_queries("valid"))
    calibration = None
    if test:
        hierarchy = levels(index, read_frame(Path("data/ingest/occupations.parquet"), OCCUPATIONS))
        search = answering(model, index, rule, folder)
        calibration = calibrate(search, queries, hierarchy, rule.temperature, params.lost_share)
    write_json(calibration and asdict(calibration), folder / "calibration.json")
    counts = {
        "bare_inputs": len(known.bare),
        "labelled_inputs": len(known.labelled),
        "exemplars": len(made.exemplars),
        "calibrated_on": test or "nothing",
        "calibration_queries": len(queries),
    }
    write_json(counts, folder / "metrics.json")
    say(counts)


if __name__ == "__main__":
    run(main)
