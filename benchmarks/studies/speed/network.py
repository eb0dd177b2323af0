"""Titles per second of training and encoding, beside a plain `nn.LSTM` with a DataLoader."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from onnxruntime import InferenceSession

from benchmarks.results import Row
from benchmarks.studies.speed.plain_lstm import PlainTraining
from benchmarks.timing import Work, alternate
from benchmarks.title_networks import Inputs, encoded, start, updates
from models.encoders.recurrent import RecurrentSettings
from models.network.embedding import BATCH, embed_titles
from models.network.kinds import make_encoder
from models.training.run import TrainSettings
from tasks.artefact.export import export_encoder

if TYPE_CHECKING:
    from torch import Tensor

TRAINING_COST = 3  # forward once, backward twice: gradients of the inputs and of the weights


def speeds(
    inputs: Inputs, settings: TrainSettings, repeats: int, steps: int, titles: int
) -> list[Row]:
    """Measure ours, the plain one, the exported one, and the matrix product."""
    works = [*network_works(inputs, settings, steps, titles)]
    works.append(onnx_work(inputs, settings, titles))
    products = matmul_works(settings.encoder, 2 * settings.batch_pairs)
    rows = alternate([*works, *products], repeats)
    return rows + list(useful_flops(inputs, settings.encoder, rows, titles))


def network_works(
    inputs: Inputs, settings: TrainSettings, steps: int, titles: int
) -> Iterator[Work]:
    """Yield training `steps` steps and encoding `titles` titles, ours and the plain one."""
    run, plain = start(settings, inputs), PlainTraining(inputs, settings)
    some = inputs.strings.titles[:titles]

    def encode() -> float:
        return len(embed_titles(run.encoder, inputs.featurizer, some))

    yield updates("rolecall", run, "titles_per_second", encoded, steps)
    few = list(range(max(1, len(some) // 5)))
    fewer = max(1, steps // 5)
    unit = "titles_per_second"
    yield Work("plain_lstm", "training", unit, lambda: sum(plain.step() for _ in range(fewer)))
    yield Work("rolecall", "encoding", unit, encode)
    yield Work("plain_lstm", "encoding", unit, lambda: len(plain.embed(few, BATCH)))


def onnx_work(inputs: Inputs, settings: TrainSettings, titles: int) -> Work:
    """Prepare encoding with the exported network, sorted by length as ours is."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "encoder.onnx"
        export_encoder(make_encoder(settings.encoder, inputs.featurizer), file)
        session = InferenceSession(str(file), providers=["CPUExecutionProvider"])
    names = [argument.name for argument in session.get_inputs()]

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
    """Yield GFLOP/s of a large square product and of one step of the recurrence."""
    shapes = {
        "matmul": (1024, 1024, 1024),
        "matmul_step": (batch, settings.hidden, 4 * settings.hidden),
    }
    for name, (rows, inner, columns) in shapes.items():
        left, right = torch.rand(rows, inner), torch.rand(inner, columns)
        times = max(1, int(2e10 / (2 * rows * inner * columns)))
        yield Work(name, "matmul", "gigaflop_per_second", partial(_products, left, right, times))


def _products(left: Tensor, right: Tensor, times: int) -> float:
    """Return the GFLOP of multiplying again and again."""
    out = left @ right
    for _ in range(times - 1):
        torch.mm(left, right, out=out)
    return times * 2 * left.numel() * right.shape[1] / 1e9


def gigaflop_per_title(settings: RecurrentSettings, length: float) -> float:
    """Count one forward pass over `length` characters: 2 · 2 ways · 4h · (in + h) a step and layer.

    Counted are the matrix products of the recurrent layers over the true length, nothing else;
    padding is no useful work.
    """
    step = sum(
        2 * 2 * 4 * settings.hidden * (into + settings.hidden)
        for into in [settings.dim_character] + [2 * settings.hidden] * (settings.layers - 1)
    )
    return step * length / 1e9


def useful_flops(
    inputs: Inputs, encoder: RecurrentSettings, speeds: Sequence[Row], titles: int
) -> Iterator[Row]:
    """Yield the title speeds as GFLOP/s of useful work, to be held against the matrix product's."""
    encoded_titles = {"training": inputs.strings.titles, "encoding": inputs.strings.titles[:titles]}
    for speed in speeds:
        if speed.metric == "titles_per_second":
            strings = inputs.featurizer(encoded_titles[speed.test])
            work = gigaflop_per_title(encoder, float(strings.streams[0].lengths.mean()))
            work *= TRAINING_COST if speed.test == "training" else 1
            low, high = (work * end for end in (speed.low or 0.0, speed.high or 0.0))
            metric, value = "gigaflop_per_second", work * speed.value
            yield speed._replace(metric=metric, value=value, low=low, high=high)
