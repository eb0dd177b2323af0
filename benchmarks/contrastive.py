"""Which penalty works, and what sampling ratios and typo rates change: networks trained anew.

All have section `train` and the pairs of stage 1 but for what their name says
(`benchmarks/contrastive_variants.py`), the same first weights of a seed, and `--steps` updates on
the CPU. Each is judged as it is after the last one, on validation queries: choices are made on
these, and the tests stay unseen. Run it with `python -m benchmarks.contrastive`; what one network
showed is written before the next is trained.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isfinite, nan
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import torch

from benchmarks.contrastive_variants import (
    PARTS,
    Material,
    Variant,
    make_inputs,
    own_loss,
    read_material,
)
from benchmarks.machine import command, machine
from benchmarks.results_file import FOLDER, Row, replace_rows
from benchmarks.training_inputs import TrainingInputs
from models.batches import Pairs
from models.embedding import embed_rows
from models.intervals import bootstrap_interval
from models.losses.contrastive import ContrastiveSettings, dissimilar_penalty
from models.mining import hardest
from models.seeding import child_seed
from models.strings import told_apart
from models.title_run import TitleRun
from models.training import Look
from tasks.alias_index import AliasIndex
from tasks.ranking import rank_queries
from tasks.systems import network

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from torch import Tensor

PROBED = 2048  # pairs of each kind whose similarity is looked at in the end
PROBED_BATCH = 128  # similar pairs among which the hardest dissimilar ones are looked for
TESTS = ("typos", "heldout_alias", "annotations")
NO_ENDS = {"low": None, "high": None}


def start(training: TrainingInputs, variant: Variant, steps: int, seed: int) -> TitleRun:
    """A run on the CPU; all of a seed begin with the same weights."""
    settings = replace(
        training.settings,
        seed=seed,
        loss=variant.loss,
        batch_pairs=variant.batch_pairs,
        max_steps=steps,
    )
    pairs = training.pairs
    if variant.loss.negatives != "pairs":
        pairs = Pairs(pairs.similar, pairs.dissimilar[:0])
    return TitleRun(training.strings, pairs, training.featurizer, settings, torch.device("cpu"))


def looks(run: TitleRun, every: int) -> Iterator[Look]:
    """Train to `max_steps`; a look at the start and after each `every` steps.

    Raises:
        FloatingPointError: the loss is no longer finite.
    """
    yield Look(0, nan, nan, nan, run.valid_score())
    steps = run.settings.max_steps
    for begin in range(0, steps, every):
        end = min(begin + every, steps)
        losses = [torch.stack(run.step(step)).detach() for step in range(begin, end)]
        means = torch.stack(losses).mean(0).tolist()
        if not all(map(isfinite, means)):
            raise FloatingPointError(f"the loss is {means[0]} at step {end}: leave this one out")
        loss, alike, apart = means
        yield Look(end, loss, alike, apart, run.valid_score())


def curve(run: TitleRun, every: int) -> Iterator[Row]:
    """Rows of each look; `n` is validation queries, or the steps that a loss is the mean of."""
    before = 0
    for look in looks(run, every):
        print(f"  {look}", flush=True)
        for name, value in list(look._asdict().items())[1:]:
            judged = name == "valid_score"
            n = len(run.valid) if judged else look.step - before
            if isfinite(value):
                metric = "valid_success_at_1" if judged else name
                yield _row(f"step_{look.step:04d}", metric, value, n)
        before = look.step


def probe(run: TitleRun, pairs: Pairs) -> Iterator[Row]:
    """Similarity of pairs, and the share of dissimilar ones that the loss still moves.

    Args:
        run: trained.
        pairs: similar ones, and dissimilar ones drawn at random as in the paper. `hardest_pairs`
            are those that mining finds among the similar ones' strings, whatever the run mined.
    """
    found = {
        "similar_pairs": _similarities(run, pairs.similar),
        "dissimilar_pairs": _similarities(run, pairs.dissimilar),
        "hardest_pairs": _hardest_similarities(run, pairs.similar),
    }
    for test, values in found.items():
        if len(values):
            yield _row(test, "mean_similarity", float(values.mean()), len(values))
            if test != "similar_pairs":
                share = gradient_share(values, own_loss(run.settings))
                yield _row(test, "share_with_gradient", share, len(values))


def gradient_share(similarity: Float[Tensor, " pair"], loss: ContrastiveSettings) -> float:
    """Share of dissimilar pairs whose penalty changes with their similarity."""
    asked = similarity.clone().requires_grad_()
    penalty = dissimilar_penalty(asked, loss.penalty, loss.margin)
    (gradient,) = torch.autograd.grad(penalty.sum(), asked)
    return float((gradient != 0).float().mean())


def judged(
    run: TitleRun, training: TrainingInputs, queries: pl.DataFrame, material: Material
) -> Iterator[Row]:
    """success@1 with intervals, on part `valid` of each test; `valid` is all but typos."""
    index = AliasIndex.of(material.aliases.filter(pl.col("split") == "train"))
    answers = network(training.featurizer, run.encoder, index.titles)
    params = material.params.evaluate
    scores, _ = rank_queries("", answers, index, queries, params)
    parts = {f"{test}/part:valid": scores.filter(pl.col("test") == test) for test in TESTS}
    parts["valid"] = scores.filter(pl.col("test") != "typos")
    for test, group in parts.items():
        if len(group):
            draw = child_seed(material.params.seed, "contrastive", test)
            values = group["success_at_1"].to_numpy()
            ends = bootstrap_interval(values, params.bootstrap_draws, draw)
            row = _row(test, "success_at_1", ends.value, len(group))
            yield row | {"low": ends.low, "high": ends.high}


def encoded(run: TitleRun, step: int) -> int:
    """Strings that a step encodes: each distinct one of its pairs once."""
    pairs = run.similar[run.similar_rows(step)]
    if len(run.dissimilar):
        pairs = torch.cat([pairs, run.dissimilar[run.dissimilar_rows(step)]])
    return len(torch.unique(pairs))


def study(
    part: str,
    material: Material,
    dataset: str,
    steps: int,
    every: int,
    seeds: int,
    after: str | None = None,
) -> Iterator[list[Row]]:
    """Train and measure the networks of a part, one after another: all rows of each.

    With `after`, the name of one of them, only those that come behind it: where an earlier call
    was interrupted.
    """
    wanted = command(
        "contrastive", dataset=dataset, only=part, steps=steps, every=every, seeds=seeds
    )
    variants = list(PARTS[part](material.settings))
    names = [variant.system for variant in variants]
    for variant in variants[names.index(after) + 1 if after in names else 0 :]:
        training, queries = make_inputs(material, variant.ratio, variant.rates)
        common = {
            "experiment": "contrastive",
            "dataset": dataset,
            "system": variant.system,
            "machine": machine(),
            "command": wanted,
        }
        rows: list[Row] = []
        for seed in range(1, seeds + 1):
            print(f"contrastive: {part}, {variant.system}, seed {seed}", flush=True)
            run = start(training, variant, steps if variant.trained else 0, seed)
            found = [*curve(run, every), *probe(run, training.pairs)]
            found += judged(run, training, queries, material)
            found.append(_row("training", "titles_per_step", encoded(run, 0), 1))
            rows += [{**common, "seed": seed, **row} for row in found]
        yield rows


def _row(test: str, metric: str, value: float, n: int) -> Row:
    return {"test": test, "metric": metric, "value": value, **NO_ENDS, "n": n}


def _probed(count: int) -> Int[Tensor, " row"]:
    draw = torch.Generator().manual_seed(child_seed(0, "contrastive", "probe"))
    return torch.randperm(count, generator=draw)[:PROBED]


def _similarities(run: TitleRun, pairs: Int[Tensor, "pair 2"]) -> Float[Tensor, " pair"]:
    rows, place = torch.unique(pairs[_probed(len(pairs))].long(), return_inverse=True)
    left, right = embed_rows(run.encoder, run.strings, rows)[place].unbind(1)
    return (left * right).sum(1)


def _hardest_similarities(run: TitleRun, similar: Int[Tensor, "pair 2"]) -> Float[Tensor, " pair"]:
    found = []
    for batch in torch.split(similar[_probed(len(similar))].long(), PROBED_BATCH):
        rows = torch.unique(batch)
        embeddings = embed_rows(run.encoder, run.strings, rows)
        similarity = embeddings @ embeddings.T
        apart = told_apart(run.occupations[rows], run.occupation_count)
        found.append(similarity[hardest(similarity, apart, own_loss(run.settings).hardest)])
    return torch.cat(found)


def main(arguments: Sequence[str] | None = None, folder: Path = FOLDER) -> None:
    """Measure and write `results/contrastive.csv`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", default="sample", help="sample, or a profile that has run")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS))
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--every", type=int, default=50, help="steps between two looks")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--after", metavar="SYSTEM", help="go on behind this network")
    given = parser.parse_args(arguments)
    sample = given.dataset == "sample"
    material = read_material(Path() if sample else Path(".workspaces") / given.dataset)
    for part in given.only:
        bounds = (given.steps, given.every, given.seeds, given.after)
        for rows in study(part, material, given.dataset, *bounds):
            replace_rows(rows, folder, only_systems=True)


if __name__ == "__main__":
    main()
