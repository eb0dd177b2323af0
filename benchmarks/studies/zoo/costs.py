"""Costs of a network of the zoo: megabytes, and titles a second in training and encoding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count

import torch

from benchmarks.networks.title_networks import Inputs, TitleNetworks
from benchmarks.results import Row
from benchmarks.timing import Work, alternate
from models.network.embedding import embed_titles
from models.text.titles import clean_title
from models.training.run import TrainSettings
from models.training.title_run import TitleRun

UPDATES = 3  # that are timed together


def costs(
    systems: Mapping[str, TrainSettings], networks: TitleNetworks, titles: list[str], repeats: int
) -> Iterator[Row]:
    """Yield size and training speed of each `ENCODER+LOSS`, encoding speed of each `ENCODER`."""
    started = {system: networks.started(settings) for system, settings in systems.items()}
    encoders = {system.partition("+")[0]: both for system, both in started.items()}
    works = [_training(system, run) for system, (run, _) in started.items()]
    works += [_encoding(encoder, *both, titles) for encoder, both in encoders.items()]
    yield from alternate(works, repeats)
    for system, (run, _) in started.items():
        weights = run.weights().values()
        size = sum(weight.numel() * weight.element_size() for weight in weights)
        yield Row(system, "training", "megabytes", size / 1e6, 1)


def encoded(run: TitleRun, step: int) -> int:
    """Count the strings that a step encodes: each distinct one of its pairs once."""
    pairs = run.batches.similar[run.batches.similar_rows(step)]
    if len(run.batches.dissimilar):
        pairs = torch.cat([pairs, run.batches.dissimilar[run.batches.dissimilar_rows(step)]])
    return len(torch.unique(pairs))


def _training(system: str, run: TitleRun) -> Work:
    taken = count()

    def update() -> float:
        numbers = [next(taken) for _ in range(UPDATES)]
        for number in numbers:
            run.step(number)
        return float(sum(encoded(run, number) for number in numbers))

    return Work(system, "training", "titles_per_second", update)


def _encoding(encoder: str, run: TitleRun, inputs: Inputs, titles: list[str]) -> Work:
    def encode() -> float:
        cleaned = [clean_title(title) for title in titles]
        return len(embed_titles(run.encoder, inputs.featurizer, cleaned))

    return Work(encoder, "encoding", "titles_per_second", encode)
