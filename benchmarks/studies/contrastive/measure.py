"""Which reading of the contrastive loss of Neculoiu et al. 2016 learns, at which margin.

Every penalty at every margin trains the network of mix `typos` anew: in the paper's way, with four
dissimilar pairs of the file to each similar one, and with hard mining in the batch. A step of the
paper's way takes so many similar pairs that it encodes about as many strings. The network as
training finds it shows which dissimilar pairs the printed penalty moves at first.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from math import isfinite
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from benchmarks.networks.runner import Job, learning
from benchmarks.networks.title_networks import TitleNetwork, TitleNetworks
from benchmarks.query_figures import figures
from benchmarks.results import Row
from benchmarks.workspace import VALID, Workspace
from models.losses.contrastive import ContrastiveSettings, dissimilar_penalty
from models.network.embedding import embed_rows
from models.network.kinds import kind_of
from models.network.model_files import load_model
from models.reproducibility.seeding import child_seed
from models.training.batches import read_pairs
from models.training.run import TrainSettings
from models.training.title_run import TitleRun
from tasks.pipeline.train.network_params import training_settings

MIX = "typos"
PENALTIES: tuple[Literal["printed", "flipped", "hinge"], ...] = ("printed", "flipped", "hinge")
MARGINS = (0.2, 0.4, 0.6, 0.8, 0.9999)  # a margin of 1 is none, and refused
RATIO = 4  # dissimilar pairs to a similar one, section 4.2
PROBED = 2048  # dissimilar pairs whose similarity is looked at in the end
SUCCESS = {"success_at_1": "success_at_1"}


class Variant(NamedTuple):
    """A network's loss and its similar pairs a step."""

    system: str
    loss: ContrastiveSettings
    batch_pairs: int
    trained: bool = True


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Train all variants with every seed, and rank the validation queries."""
    workspace = Workspace.read(dataset)
    exam = workspace.exam()
    exam = replace(exam, queries=exam.queries.filter(test=VALID))
    pairs = workspace.pairs(MIX)
    networks = TitleNetworks(options.kept, options.processes, pairs, last=True)
    dissimilar = read_pairs(pairs / "pairs.parquet", with_dissimilar=True).dissimilar
    base = training_settings(workspace.params.network, workspace.seed)
    several = [(own, seed) for own in variants(base) for seed in range(1, options.seeds + 1)]
    jobs = [
        Job(f"{own.system}, seed {seed}", settings(base, own, seed, options))
        for own, seed in several
    ]
    rows: list[Row] = []
    for (own, seed), job, network in zip(several, jobs, networks.outcomes(jobs), strict=True):
        run, _ = networks.started(job.settings)
        run.encoder.load_state_dict(load_model(network.folder)[1].state_dict())
        own_rows = [*curve(network, len(run.valid)), *probe(run, dissimilar, own.loss)]
        answers = {seed: exam.answers(network.folder).drop("system")}
        ranked = figures("", answers, SUCCESS, exam.params)
        own_rows += [row for row in ranked if row.seed is not None]
        if own.trained:
            own_rows += learning({"": {seed: network}})
        rows += [row._replace(system=own.system, seed=seed) for row in own_rows]
    yield rows


def variants(base: TrainSettings) -> Iterator[Variant]:
    """Yield every penalty at every margin, in both ways, and the untrained network."""
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
            if penalty == "printed":
                yield Variant(f"untrained/{name}", paper, few, trained=False)
            yield Variant(f"pairs/{name}", paper, few)
            yield Variant(f"hardest/{name}", mined, base.batch_pairs)


def settings(
    base: TrainSettings, variant: Variant, seed: int, options: argparse.Namespace
) -> TrainSettings:
    """Return section `train` with the changes of a variant; nothing but its steps ends it."""
    steps = options.steps if variant.trained else 0
    return replace(
        base,
        seed=seed,
        loss=variant.loss,
        batch_pairs=variant.batch_pairs,
        max_steps=steps,
        evaluate_every=options.every,
        patience=steps + 1,
    )


def curve(network: TitleNetwork, queries: int) -> Iterator[Row]:
    """Yield rows of each look; `n` is validation queries, or the steps a loss is the mean of."""
    before = 0
    for look in network.looks:
        test = f"step_{look.step:04d}"
        yield Row("", test, "valid_success_at_1", look.valid_score, queries)
        if isfinite(look.loss):
            yield Row("", test, "loss", look.loss, look.step - before)
        before = look.step


def probe(run: TitleRun, dissimilar: Tensor, loss: ContrastiveSettings) -> Iterator[Row]:
    """Yield the mean similarity of dissimilar pairs, and the share that the loss still moves."""
    draw = torch.Generator().manual_seed(child_seed(0, "contrastive", "probe"))
    drawn = dissimilar[torch.randperm(len(dissimilar), generator=draw)[:PROBED]].long()
    rows, place = torch.unique(drawn, return_inverse=True)
    left, right = embed_rows(run.encoder, run.strings, rows)[place].unbind(1)
    similarity = (left * right).sum(1)
    test, count = "dissimilar_pairs", len(similarity)
    yield Row("", test, "mean_similarity", float(similarity.mean()), count)
    yield Row("", test, "share_with_gradient", gradient_share(similarity, loss), count)


def gradient_share(similarity: Tensor, loss: ContrastiveSettings) -> float:
    """Return the share of dissimilar pairs whose penalty changes with their similarity."""
    leaf = similarity.clone().requires_grad_()
    penalty = dissimilar_penalty(leaf, loss.penalty, loss.margin)
    (gradient,) = torch.autograd.grad(penalty.sum(), leaf)
    return float((gradient != 0).float().mean())
