"""What a network of the zoo costs: parameters, training, encoding, and making ids of its titles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchmarks.results import Row
from benchmarks.studies.zoo.featurizing import cleaned, featurizing
from benchmarks.timing import Work, alternate
from benchmarks.title_networks import Inputs, TitleNetworks, encoded, updates
from models.network.embedding import embed_titles
from models.training.run import TrainSettings
from models.training.strings import read_strings
from models.training.title_run import TitleRun

AGAINST = "recurrent"
SIZED = 10  # updates whose strings are counted


def costs(
    systems: Mapping[str, TrainSettings], networks: TitleNetworks, titles: list[str], repeats: int
) -> Iterator[Row]:
    """Yield sizes and speeds of all `ENCODER+LOSS`, of each `ENCODER`, and of each kind of unit."""
    started = {system: networks.started(settings) for system, settings in systems.items()}
    encoders = {_encoder(system): both for system, both in started.items()}
    training = read_strings(networks.pairs / "strings.parquet").titles
    works = [
        updates(system, run, "titles_per_second", encoded) for system, (run, _) in started.items()
    ]
    works += [_encoding(encoder, *both, titles) for encoder, both in encoders.items()]
    speeds = alternate([*works, *featurizing(training, titles)], repeats)
    yield from speeds
    yield from _compared(speeds)
    for system, (run, _) in started.items():
        weights = run.weights().values()
        size = sum(weight.numel() * weight.element_size() for weight in weights)
        numbers = sum(weight.numel() for weight in weights)
        yield Row(system, "training", "parameters", numbers, 1)
        yield Row(system, "training", "megabytes", size / 1e6, 1)
    for speed in speeds:
        if speed.test == "training":
            run, _ = started[speed.system]
            strings = sum(encoded(run, step) for step in range(SIZED)) / SIZED
            seconds = systems[speed.system].max_steps * strings / speed.value
            yield Row(speed.system, "training", "seconds", seconds, 1)


def _compared(speeds: Sequence[Row]) -> Iterator[Row]:
    """Yield titles a second as a multiple of the recurrent encoder's with the same loss."""
    values = {(speed.system, speed.test): speed.value for speed in speeds}
    for (system, test), value in values.items():
        against = values.get((system.replace(_encoder(system), AGAINST), test))
        if against and test in ("training", "encoding"):
            yield Row(system, test, "times_recurrent", value / against, 1)


def _encoding(encoder: str, run: TitleRun, inputs: Inputs, titles: list[str]) -> Work:
    def encode() -> float:
        return len(embed_titles(run.encoder, inputs.featurizer, cleaned(titles)))

    return Work(encoder, "encoding", "titles_per_second", encode)


def _encoder(system: str) -> str:
    return system.partition("+")[0]
