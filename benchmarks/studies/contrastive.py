"""Which reading of the contrastive loss of Neculoiu et al. 2016 learns, at which margin.

Every penalty at every margin trains the network of mix `typos` anew: in the paper's way, with four
dissimilar pairs of the file to each similar one, and with hard mining; both ways encode about as
many strings a step. The untrained network shows which dissimilar pairs the printed penalty moves.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, cast

import torch
from torch import Tensor

from benchmarks.networks import TitleNetworks, bounded, learning, seeded
from benchmarks.plots import curves, svg
from benchmarks.query_figures import figures
from benchmarks.results import Lines, Row
from benchmarks.tables import distinct, where
from benchmarks.workspace import VALID, Workspace
from models.losses.contrastive import ContrastiveSettings, dissimilar_penalty
from models.network.embedding import embed_rows
from models.network.kinds import kind_of
from models.reproducibility import child_seed
from models.training.batches import read_pairs
from models.training.loop import TrainSettings
from models.training.title_run import TitleRun
from tasks.pipeline.train import training_settings

MIX = "typos"
PENALTIES: tuple[Literal["printed", "flipped", "hinge"], ...] = ("printed", "flipped", "hinge")
MARGINS = (0.2, 0.4, 0.6, 0.8, 0.9999)  # a margin of 1 is none, and refused
RATIO = 4  # dissimilar pairs to a similar one, section 4.2
PROBED = 2048  # dissimilar pairs whose similarity is looked at before training
SUCCESS = {"success_at_1": "success_at_1"}
PLOTTED = ("0.4", "0.9999")
WAYS = {"pairs": "dissimilar pairs of the file", "hardest": "hard mining"}


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Train all variants with every seed, and rank the validation queries."""
    workspace = Workspace.read(dataset)
    exam = workspace.exam()
    exam = replace(exam, queries=exam.queries.filter(test=VALID))
    pairs = workspace.pairs(MIX)
    networks = TitleNetworks(options.kept, options.processes, pairs, last=True)
    base = bounded(training_settings(workspace.params.network, workspace.seed), options.steps)
    variants = dict(losses(replace(base, evaluate_every=options.every)))
    made = seeded(variants, options.seeds, networks)
    rows = [*learning(made)]
    for system, by_seed in made.items():
        for seed, network in by_seed.items():
            for look in network.looks:
                test, score, count = f"step_{look.step:04d}", look.valid_score, len(exam.queries)
                rows.append(Row(system, test, "valid_success_at_1", score, count, seed=seed))
        answers = {seed: exam.answers(own.folder) for seed, own in by_seed.items()}
        rows += figures(system, answers, SUCCESS, exam.params)
    dissimilar = read_pairs(pairs / "pairs.parquet", with_dissimilar=True).dissimilar
    for system, settings in variants.items():
        if system.startswith("pairs/printed/"):
            run, _ = networks.started(settings)
            rows += probe(system.replace("pairs", "untrained"), run, dissimilar)
    yield rows


def losses(base: TrainSettings) -> Iterator[tuple[str, TrainSettings]]:
    """Yield the settings of every penalty at every margin, in both ways."""
    loss = base.loss
    if not isinstance(loss, ContrastiveSettings):
        raise TypeError(f"train.loss.kind is {kind_of(loss)}: set it to contrastive")
    few = max(2, round(base.batch_pairs / (1 + RATIO)))
    for margin in MARGINS:
        for penalty in PENALTIES:
            own = replace(loss, penalty=penalty, margin=margin, weight_similar=0.25)
            # (Σ similar / 4 + Σ dissimilar) / number of similar, as the paper's sum over pairs
            paper = replace(own, negatives="pairs", weight_dissimilar=float(RATIO))
            mined = replace(own, negatives="hardest", weight_dissimilar=1.0)
            name = f"{penalty}/margin:{margin:g}"
            yield f"pairs/{name}", replace(base, loss=paper, batch_pairs=few)
            yield f"hardest/{name}", replace(base, loss=mined)


def probe(system: str, run: TitleRun, dissimilar: Tensor) -> Iterator[Row]:
    """Yield the mean similarity of dissimilar pairs, and the share that the loss moves."""
    draw = torch.Generator().manual_seed(child_seed(0, "contrastive", "probe"))
    drawn = dissimilar[torch.randperm(len(dissimilar), generator=draw)[:PROBED]].long()
    rows, positions = torch.unique(drawn, return_inverse=True)
    left, right = embed_rows(run.encoder, run.strings, rows)[positions].unbind(1)
    similarity = (left * right).sum(1)
    test, count, seed = "dissimilar_pairs", len(similarity), run.settings.seed
    yield Row(system, test, "mean_similarity", float(similarity.mean()), count, seed=seed)
    share = gradient_share(similarity, cast("ContrastiveSettings", run.settings.loss))
    yield Row(system, test, "share_with_gradient", share, count, seed=seed)


def gradient_share(similarity: Tensor, loss: ContrastiveSettings) -> float:
    """Return the share of dissimilar pairs whose penalty changes with their similarity."""
    leaf = similarity.clone().requires_grad_()
    penalty = dissimilar_penalty(leaf, loss.penalty, loss.margin)
    (gradient,) = torch.autograd.grad(penalty.sum(), leaf)
    return float((gradient != 0).float().mean())


def plot(rows: Lines) -> str:
    """Draw success@1 of validation queries over the steps, for every penalty at two margins."""
    rows = where(rows, metric="valid_success_at_1", seed="1")
    steps, panels = sorted(distinct(rows, "test")), {}
    for way, title in WAYS.items():
        panels[title] = [
            (f"{penalty}, m = {margin}", [float(row["value"]) for row in own])
            for penalty in ("hinge", "flipped", "printed")
            for margin in PLOTTED
            if (own := where(rows, system=f"{way}/{penalty}/margin:{margin}"))
        ]
    ticks, label = [float(step.removeprefix("step_")) for step in steps], "success@1, validation"
    return svg("contrastive", lambda whole: curves(whole, ticks, panels, "steps", label))
