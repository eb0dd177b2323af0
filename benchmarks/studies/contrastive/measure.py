"""Which penalty works, and what sampling ratios and typo rates change: networks trained anew."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from math import isfinite

import polars as pl
import torch
from torch import Tensor

from benchmarks.query_figures import interval_row
from benchmarks.results import Row
from benchmarks.studies.contrastive.variants import (
    PARTS,
    Material,
    Variant,
    own_loss,
    read_material,
    write_pairs,
)
from benchmarks.title_networks import TitleNetwork, TitleNetworks, encoded
from benchmarks.tuning import Job, learning
from benchmarks.workspace import Exam, Workspace
from models.losses.contrastive import ContrastiveSettings, dissimilar_penalty
from models.losses.parts.mining import hardest
from models.measures.intervals import bootstrap_interval
from models.network.embedding import embed_rows
from models.network.model_files import load_model
from models.repeatable.seeding import child_seed
from models.training.batches import Pairs, read_pairs
from models.training.run import TrainSettings
from models.training.strings import told_apart
from models.training.title_run import TitleRun
from tasks.evaluation.systems import index_of

PROBED = 2048  # pairs of each kind whose similarity is looked at in the end
PROBED_BATCH = 128  # similar pairs among which the hardest dissimilar ones are looked for
TESTS = ("typos", "heldout_alias", "annotations")


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Train and measure the networks that have their pairs in common, group by group."""
    material = read_material(Workspace.read(dataset))
    for part in options.only:
        variants = PARTS[part](material.settings)
        for (ratio, rates), group in groupby(variants, lambda own: (own.ratio, own.rates)):
            folder = options.kept / "pairs" / "-".join(map(str, (ratio, *rates)))
            queries = write_pairs(material, ratio, rates, folder)
            networks = TitleNetworks(options.kept, options.processes, folder, last=True)
            yield list(study(list(group), networks, material, queries, options))


def study(
    variants: list[Variant],
    networks: TitleNetworks,
    material: Material,
    queries: pl.DataFrame,
    options: argparse.Namespace,
) -> Iterator[Row]:
    """Train all variants on the same pairs, and yield their rows."""
    exam = Exam(material.params, index_of(material.titles), queries)
    several = [(variant, seed) for variant in variants for seed in range(1, options.seeds + 1)]
    jobs = [
        Job(f"{variant.system}, seed {seed}", settings(material, variant, seed, options))
        for variant, seed in several
    ]
    pairs = read_pairs(networks.pairs / "pairs.parquet", with_dissimilar=True)
    outcomes = networks.outcomes(jobs)
    for (variant, seed), job, outcome in zip(several, jobs, outcomes, strict=True):
        run, _ = networks.started(job.settings)
        run.encoder.load_state_dict(load_model(outcome.folder)[1].state_dict())
        rows = [*curve(outcome, len(run.valid)), *probe(run, pairs), *judged(outcome, exam)]
        rows.append(Row("", "training", "titles_per_step", encoded(run, 0), 1))
        if variant.trained:
            rows += learning({"": {seed: outcome}})
        yield from (row._replace(system=variant.system, seed=seed) for row in rows)


def settings(
    material: Material, variant: Variant, seed: int, options: argparse.Namespace
) -> TrainSettings:
    """Return section `train` with what a variant changes, ended by its steps alone."""
    steps = options.steps if variant.trained else 0
    return replace(
        material.settings,
        seed=seed,
        loss=variant.loss,
        batch_pairs=variant.batch_pairs,
        max_steps=steps,
        evaluate_every=options.every,
        patience=steps + 1,
    )


def curve(outcome: TitleNetwork, queries: int) -> Iterator[Row]:
    """Yield rows of each look; `n` is validation queries, or the steps a loss is the mean of."""
    before = 0
    for look in outcome.looks:
        test = f"step_{look.step:04d}"
        yield Row("", test, "valid_success_at_1", look.valid_score, queries)
        for metric in ("loss", "loss_similar", "loss_dissimilar"):
            value = getattr(look, metric)
            if isfinite(value):
                yield Row("", test, metric, value, look.step - before)
        before = look.step


def probe(run: TitleRun, pairs: Pairs) -> Iterator[Row]:
    """Yield similarities of pairs, and the share of dissimilar ones that the loss still moves."""
    similarities = {
        "similar_pairs": _similarities(run, pairs.similar),
        "dissimilar_pairs": _similarities(run, pairs.dissimilar),
        "hardest_pairs": _hardest_similarities(run, pairs.similar),
    }
    for test, values in similarities.items():
        if len(values):
            yield Row("", test, "mean_similarity", float(values.mean()), len(values))
            if test != "similar_pairs":
                share = gradient_share(values, own_loss(run.settings))
                yield Row("", test, "share_with_gradient", share, len(values))


def gradient_share(similarity: Tensor, loss: ContrastiveSettings) -> float:
    """Return the share of dissimilar pairs whose penalty changes with their similarity."""
    leaf = similarity.clone().requires_grad_()
    penalty = dissimilar_penalty(leaf, loss.penalty, loss.margin)
    (gradient,) = torch.autograd.grad(penalty.sum(), leaf)
    return float((gradient != 0).float().mean())


def judged(outcome: TitleNetwork, exam: Exam) -> Iterator[Row]:
    """Yield success@1 with intervals, on part `valid` of each test; `valid` is all but typos."""
    scores = exam.answers(outcome.folder)
    parts = {f"{test}/part:valid": scores.filter(pl.col("test") == test) for test in TESTS}
    parts["valid"] = scores.filter(pl.col("test") != "typos")
    for test, group in parts.items():
        if len(group):
            draw = child_seed(exam.params.seed, "contrastive", test)
            values = group["success_at_1"].to_numpy()
            interval = bootstrap_interval(values, exam.params.evaluate.bootstrap_draws, draw)
            yield interval_row("", test, "success_at_1", interval, len(group))


def _probed(count: int) -> Tensor:
    draw = torch.Generator().manual_seed(child_seed(0, "contrastive", "probe"))
    return torch.randperm(count, generator=draw)[:PROBED]


def _similarities(run: TitleRun, pairs: Tensor) -> Tensor:
    rows, place = torch.unique(pairs[_probed(len(pairs))].long(), return_inverse=True)
    left, right = embed_rows(run.encoder, run.strings, rows)[place].unbind(1)
    return (left * right).sum(1)


def _hardest_similarities(run: TitleRun, similar: Tensor) -> Tensor:
    closest = []
    for batch in torch.split(similar[_probed(len(similar))].long(), PROBED_BATCH):
        rows = torch.unique(batch)
        embeddings = embed_rows(run.encoder, run.strings, rows)
        similarity = embeddings @ embeddings.T
        apart = told_apart(run.batches.occupations[rows])
        closest.append(similarity[hardest(similarity, apart, own_loss(run.settings).hardest)])
    return torch.cat(closest)
