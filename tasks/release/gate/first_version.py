"""Versions that the gate promotes unless significantly worse: a first one, a corrected champion.

A first version has no champion to keep up with, and a consumer without any model is served worst.
Its opponent is the untrained network; the gate refuses a network that learned nothing with a chance
of `gate.alpha` over all tests. A significant gain on the labelled inputs, which the network is for,
makes up for losses on titles that were made up: an untrained bag of n-grams already finds nearly
every misspelt title. If no test shows a gain, the decision says what training had to go
by. A corrected champion has the champion's own network: people's answers, which no test queries,
are right in it, and the gate makes sure that other answers do not suffer.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from tasks.io.frames import read_frame
from tasks.io.schemas import QUERIES
from tasks.release.gate.gate_figures import SystemResults, TestFigures, significantly_worse
from tasks.release.gate.rule import LABELLED, GateDecision
from tasks.release.registry.register import CHALLENGER, CHAMPION

UNTRAINED = "the untrained network"


def decide_first(answers: Mapping[str, SystemResults], alpha: float, learned: str) -> GateDecision:
    """Judge a first version against the untrained network.

    `answers`: test to the answers of the version and of the untrained network; `learned`: what
    training had to go by, for a version that gained nothing.
    """
    figures = significantly_worse(answers, alpha)
    better = [own.test for own in figures if own.low > 0]
    losses = _losses(figures, UNTRAINED)
    if losses and LABELLED not in better:
        return GateDecision(False, losses, figures)
    none = f"significantly worse than {UNTRAINED} on none of {len(figures)} tests"
    kept = f"a first version, {losses or none}"
    if not figures:
        kept = "a first version, and the gate has no queries to judge it by (section split)"
    gained = f"better on {', '.join(better)}" if better else f"but no gain is shown: {learned}"
    balance = "; the gain on labelled inputs makes up for that" if losses else ""
    return GateDecision(True, f"{kept}; {gained}{balance}", figures)


def decide_corrected(
    answers: Mapping[str, SystemResults], opponent: str, alpha: float
) -> GateDecision:
    """Judge a champion with later feedback.

    `answers`: test to the answers with it and without.
    """
    figures = significantly_worse(answers, alpha)
    kept = f"the network of {opponent} with later feedback"
    none = f"{kept}, significantly worse on none of {len(figures)} tests"
    reason = _losses(figures, opponent)
    return GateDecision(not reason, reason or none, figures)


def _losses(figures: Sequence[TestFigures], opponent: str) -> str:
    """Say on which tests a version is significantly worse; empty if on none."""
    worse = [
        f"{own.test} ({own.difference:+.3f} on {own.queries} queries)"
        for own in figures
        if not own.passed
    ]
    return f"significantly worse than {opponent} on {', '.join(worse)}" if worse else ""


def what_training_saw(model: Path, data: Path) -> str:
    """Say how many validation queries chose the weights, and whether those of step 0 were kept.

    Steps on people's verdicts that followed, which no validation query judges, are named too.

    `model`: the folder of the network; its history lies beside it.
    """
    with (model.parent / "history.csv").open(encoding="utf-8", newline="") as file:
        steps = [(int(row["step"]), float(row["valid_score"])) for row in csv.DictReader(file)]
    looks = [look for look in steps if not math.isnan(look[1])]
    more = steps[-1][0] - looks[-1][0]
    followed = f"; {more} steps on people's verdicts followed" if more else ""
    return _chosen_by_validation(looks, data) + followed


def _chosen_by_validation(looks: Sequence[tuple[int, float]], data: Path) -> str:
    """Say which of the looks, step and score, were kept."""
    queries = read_frame(data / "split/queries.parquet", QUERIES).filter(split="valid")
    count = queries["cleaned"].n_unique()
    step, best = max(looks, key=lambda look: look[1])  # of equal ones the first, as training does
    if not count:
        return "training had no validation queries to choose its weights by and kept the last"
    if step == 0:
        return (
            f"no later look at the {count} validation queries was better than that at step 0 "
            f"({best:.3f}), so the weights of step 0 were kept"
        )
    return (
        f"the weights are those of step {step}, chosen by {count} validation queries, whose score "
        f"is known to within {1.96 * 0.5 / math.sqrt(count):.2f} only"
    )


def without_champion(name: str, version: str) -> str:
    """Say what a consumer can load while there is no champion, and how the owner makes one."""
    return (
        f"{name} has no champion: load models:/{name}/{version} or models:/{name}@{CHALLENGER}, or "
        f"make it champion by hand: {by_hand(name, version)}"
    )


def by_hand(name: str, version: str) -> str:
    """Return the call that makes a version champion."""
    return f"MlflowClient().set_registered_model_alias('{name}', '{CHAMPION}', {version})"
