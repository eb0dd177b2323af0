"""What a network of the zoo costs: parameters, training, encoding, and making ids of its titles.

All is measured on one thread, in turn within each repeat (`benchmarks/network_speed.py`), and held
against the recurrent encoder of the same run. Training starts with fresh weights, encoding with raw
titles. The seconds of a training are those of its updates at this speed: the training itself had
others beside it, and looked at validation queries on the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count

from benchmarks.contrastive import encoded
from benchmarks.featurizing_speed import featurizing
from benchmarks.network_speed import Speed, Work, alternate
from benchmarks.network_training import Place, Started, start
from benchmarks.results_file import Row
from models.embedding import embed_titles
from models.run import TrainSettings
from models.strings import read_strings
from models.title_run import TitleRun

AGAINST = "recurrent"
STEPS = 3  # updates of a repeat
SIZED = 10  # updates whose strings are counted


def costs(
    systems: Mapping[str, TrainSettings], place: Place, titles: list[str], repeats: int
) -> Iterator[Row]:
    """Sizes and speeds of all systems `ENCODER+LOSS`, of each `ENCODER`, and of each kind of unit.

    Args:
        systems: with the settings of their networks; `max_steps` gives the seconds of training.
        place: whose pairs are trained on, and whose titles make the vocabularies.
        titles: raw, what is encoded in a repeat.
        repeats: after one to warm up.
    """
    started = {system: start(settings, place) for system, settings in systems.items()}
    encoders = {_encoder(system): each for system, each in started.items()}
    training = read_strings(place.pairs / "strings.parquet").titles
    works = [_training(system, each.run) for system, each in started.items()]
    works += [_encoding(encoder, each, titles) for encoder, each in encoders.items()]
    found = alternate([*works, *featurizing(training, titles)], repeats)
    for system, each in started.items():
        weights = each.run.weights().values()
        size = sum(weight.numel() * weight.element_size() for weight in weights)
        yield _row(system, "parameters", sum(weight.numel() for weight in weights))
        yield _row(system, "megabytes", size / 1e6)
    for speed in found:
        row = speed._asdict()
        yield row | {"n": row.pop("repeats")}
    yield from _compared(found)
    for speed in found:
        if speed.test == "training":
            run = started[speed.system].run
            strings = sum(encoded(run, step) for step in range(SIZED)) / SIZED
            seconds = systems[speed.system].max_steps * strings / speed.value
            yield _row(speed.system, "seconds", seconds)


def _compared(found: list[Speed]) -> Iterator[Row]:
    """Titles a second as a multiple of the recurrent encoder's, with the same loss in training."""
    values = {(speed.system, speed.test): speed.value for speed in found}
    for (system, test), value in values.items():
        against = values.get((system.replace(_encoder(system), AGAINST), test))
        if against and test in ("training", "encoding"):
            yield {**_row(system, "times_recurrent", value / against), "test": test}


def _training(system: str, run: TitleRun) -> Work:
    taken = count()

    def update() -> float:
        done = [next(taken) for _ in range(STEPS)]
        for step in done:
            run.step(step)
        return float(sum(encoded(run, step) for step in done))

    return Work(system, "training", "titles_per_second", update)


def _encoding(encoder: str, started: Started, titles: list[str]) -> Work:
    def encode() -> float:
        return len(embed_titles(started.run.encoder, started.featurizer, titles))

    return Work(encoder, "encoding", "titles_per_second", encode)


def _encoder(system: str) -> str:
    return system.partition("+")[0]


def _row(system: str, metric: str, value: float) -> Row:
    return {"system": system, "test": "training", "metric": metric, "value": value, "n": 1}
