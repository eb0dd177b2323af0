"""The champion without one of its ingredients at a time, asked what it knows of vacancy titles."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks.query_figures import Seeds, figures, gains
from benchmarks.reduced_pairs import write_reduced
from benchmarks.results import Row
from benchmarks.studies.champion.asking import Asking
from benchmarks.studies.champion.measure import NAMES
from benchmarks.studies.champion.titles import read_halves
from benchmarks.systems import CHAMPION, champion_settings
from benchmarks.title_networks import TitleNetwork, TitleNetworks
from benchmarks.tuning import learning, seeded
from benchmarks.workspace import Workspace, data_folder
from models.training.run import TrainSettings
from tasks.evidence.known import Known

TEST = "even"
ROLES = ("companion", "noisy_companion", "typo", "synonym", "extra_words")
"""Ingredients that are strings of a role; a companion goes with its noisy copies."""
INPUTS = "inputs"
"""The ingredient that is asked with, not trained on."""


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Train without each of `options.without`, and compare with the whole.

    Raises:
        ValueError: there is no ingredient of that name.
    """
    workspace = Workspace.read(dataset)
    index, params = workspace.aliases, workspace.params
    asking = Asking(workspace, index, read_halves(data_folder(), index, TEST), options)
    settings = champion_settings(params, options.steps, options.batch)
    made = _trained(asking, settings, workspace.pairs(workspace.mix), CHAMPION)
    whole = _answers(asking, made, asking.inputs)
    yield [*learning({CHAMPION: made}), *figures(CHAMPION, whole, NAMES, params)]
    for name in options.without:
        pairs = options.kept / f"without-{name}"
        system = f"{CHAMPION}/without_{name}"
        known = None if name == INPUTS else asking.inputs
        made = _trained(asking, *_without(name, settings, workspace, pairs), system)
        less = _answers(asking, made, known)
        rows = [*learning({system: made}), *figures(system, less, NAMES, params)]
        for column, metric in NAMES.items():
            gained = f"{CHAMPION}-{system}"
            rows += gains(gained, whole, less, f"gain_{metric}", params, column)
        yield rows


def _without(
    name: str, settings: TrainSettings, workspace: Workspace, folder: Path
) -> tuple[TrainSettings, Path]:
    """Return settings and pairs that lack an ingredient."""
    pairs = workspace.pairs(workspace.mix)
    if name in ROLES:
        write_reduced(
            pairs, lambda strings: ~strings["role"].str.ends_with(name).to_numpy(), folder
        )
        return settings, folder
    if name == INPUTS:
        return settings, pairs
    if name == "teacher":
        return replace(settings, teacher=None), pairs
    if name == "ranks" and settings.teacher is not None:
        return replace(settings, teacher=replace(settings.teacher, weight=0.0)), pairs
    others = (*ROLES, "teacher", "ranks", INPUTS)
    raise ValueError(f"no ingredient {name!r}; choose {', '.join(others)}")


def _trained(
    asking: Asking, settings: TrainSettings, pairs: Path, system: str
) -> dict[int, TitleNetwork]:
    """Train with every seed."""
    options = asking.options
    networks = TitleNetworks(
        options.kept, options.processes, pairs, teacher=asking.workspace.teacher
    )
    return seeded({system: settings}, options.seeds, networks)[system]


def _answers(asking: Asking, made: dict[int, TitleNetwork], known: Known | None) -> Seeds:
    """Ask each network with what is known of inputs."""
    return {
        seed: asking.values(TEST, asking.search(own.folder, known)) for seed, own in made.items()
    }
