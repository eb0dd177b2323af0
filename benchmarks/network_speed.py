"""Titles per second of training and encoding, beside a plain `nn.LSTM` with a DataLoader.

Both train on the same pairs and encode the same titles, in turn within each repeat, so that a busy
moment of the machine meets both. Beside them stand what the recurrence costs in floating point
operations and how many of these a matrix product reaches here: the physical limit.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from onnxruntime import InferenceSession

from benchmarks.dropout import encoded, start
from benchmarks.plain_lstm import PlainTraining
from benchmarks.training_inputs import TrainingInputs
from models.embedding import BATCH, embed_titles
from models.encoders.recurrent import RecurrentSettings
from models.kinds import make_encoder
from models.title_run import TitleRun
from tasks.export import export_encoder

if TYPE_CHECKING:
    from torch import Tensor

TRAINING_COST = 3  # forward once, backward twice: gradients of the inputs and of the weights


class Work(NamedTuple):
    """What one call did: `amount` of `metric`'s unit before it is divided by the seconds."""

    system: str
    test: str
    metric: str
    run: Callable[[], float]


class Speed(NamedTuple):
    """Median, lowest and highest of the repeats, per second."""

    system: str
    test: str
    metric: str
    value: float
    low: float
    high: float
    repeats: int


def alternate(works: list[Work], repeats: int) -> list[Speed]:
    """TitleRun all `works` in turn, once to warm up and then `repeats` times."""
    speeds: list[list[float]] = [[] for _ in works]
    for repeat in range(repeats + 1):
        for work, found in zip(works, speeds, strict=True):
            began = time.perf_counter()
            amount = work.run()
            speed = amount / (time.perf_counter() - began)
            if repeat:
                found.append(speed)
                print(f"speed: {work.test}, {work.system}: {speed:,.1f} {work.metric}", flush=True)
    return [
        Speed(*work[:3], float(np.median(found)), min(found), max(found), repeats)
        for work, found in zip(works, speeds, strict=True)
    ]


def network_works(inputs: TrainingInputs, steps: int, titles: int) -> Iterator[Work]:
    """Training `steps` steps and encoding `titles` titles, ours and the plain one."""
    run, plain = start(inputs, "weights", inputs.settings.seed), PlainTraining(inputs)
    taken = count()
    some = inputs.strings.titles[:titles]

    def train() -> float:
        return sum(_trained(run, next(taken)) for _ in range(steps))

    def encode() -> float:
        return len(embed_titles(run.encoder, inputs.featurizer, some))

    yield Work("rolecall", "training", "titles_per_second", train)
    yield Work(
        "plain_lstm",
        "training",
        "titles_per_second",
        lambda: sum(plain.step() for _ in range(max(1, steps // 5))),
    )
    yield Work("rolecall", "encoding", "titles_per_second", encode)
    few = list(range(max(1, len(some) // 5)))
    yield Work(
        "plain_lstm",
        "encoding",
        "titles_per_second",
        lambda: len(plain.embed(few, BATCH)),
    )


def _trained(run: TitleRun, step: int) -> int:
    run.step(step)
    return encoded(run, step)


def onnx_work(inputs: TrainingInputs, titles: int) -> Work:
    """Encoding with the exported network, sorted by length as ours is."""
    with tempfile.TemporaryDirectory() as folder:
        network = Path(folder) / "encoder.onnx"
        export_encoder(make_encoder(inputs.settings.encoder, inputs.featurizer), network)
        session = InferenceSession(str(network), providers=["CPUExecutionProvider"])
    names = [given.name for given in session.get_inputs()]

    def encode() -> float:
        (some,) = inputs.featurizer(inputs.strings.titles[:titles]).streams
        ids = some.padded()
        order = np.argsort(some.lengths, kind="stable")
        for block in np.array_split(order, max(1, len(order) // BATCH)):
            lengths = some.lengths[block]
            arrays = (ids[block, : lengths.max()], lengths)
            session.run(None, dict(zip(names, arrays, strict=True)))
        return len(order)

    return Work("onnx", "encoding", "titles_per_second", encode)


def matmul_works(settings: RecurrentSettings, batch: int) -> Iterator[Work]:
    """GFLOP/s of a large square product and of one step of the recurrence."""
    shapes = {
        "matmul": (1024, 1024, 1024),
        "matmul_step": (batch, settings.hidden, 4 * settings.hidden),
    }
    for name, (rows, inner, columns) in shapes.items():
        left, right = torch.rand(rows, inner), torch.rand(inner, columns)
        times = max(1, int(2e10 / (2 * rows * inner * columns)))
        yield Work(name, "matmul", "gigaflop_per_second", partial(_products, left, right, times))


def _products(left: Tensor, right: Tensor, times: int) -> float:
    """GFLOP of multiplying again and again."""
    out = left @ right
    for _ in range(times - 1):
        torch.mm(left, right, out=out)
    return times * 2 * left.numel() * right.shape[1] / 1e9


def gigaflop_per_title(settings: RecurrentSettings, length: float) -> float:
    """Of one forward pass over `length` characters: 2 · 2 ways · 4h · (in + h) a step and layer.

    Counted are the matrix products of the recurrent layers over the true length, nothing else;
    padding is no useful work.
    """
    step = sum(
        2 * 2 * 4 * settings.hidden * (into + settings.hidden)
        for into in [settings.dim_character] + [2 * settings.hidden] * (settings.layers - 1)
    )
    return step * length / 1e9


def useful_flops(inputs: TrainingInputs, speeds: list[Speed], titles: int) -> Iterator[Speed]:
    """The title speeds as GFLOP/s of useful work, to be held against the matrix product's."""
    rows = {"training": inputs.strings.titles, "encoding": inputs.strings.titles[:titles]}
    for speed in speeds:
        if speed.metric == "titles_per_second":
            length = float(inputs.featurizer(rows[speed.test]).streams[0].lengths.mean())
            each = gigaflop_per_title(inputs.settings.encoder, length)
            each *= TRAINING_COST if speed.test == "training" else 1
            ends = speed.value * each, speed.low * each, speed.high * each
            yield Speed(speed.system, speed.test, "gigaflop_per_second", *ends, speed.repeats)
