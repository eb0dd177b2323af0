"""Cleaned titles to embeddings of unit norm, and which titles are longer than the network reads.

A *bag* adds up a row of one table for each unit of a title. Rows are read as they are stored
(`models/network/quantization.py`): integers in eight or four bits with a scale each, or
floats. Their sums are in double precision, where scales times small integers add up without
rounding: so a title gets the same bits whatever is embedded with it. Other networks run in ONNX.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from models.serving.kernels import add_half_rows, add_rows, threads
from models.text.featurizer import Featurizer, Ids
from models.text.titles import LONGEST

if TYPE_CHECKING:
    from jaxtyping import Bool, Float32, Float64, Int, Shaped

Embed = Callable[[Sequence[str]], "Float32[np.ndarray, 'title dim']"]
"""Cleaned titles to embeddings of unit norm."""
EIGHT = 8  # added to each number of a half byte
SUMMED_AT_ONCE = 128
"""Titles whose sums stay in the processor's cache; memory for more is asked for each time."""
RUN_AT_ONCE = 256  # titles that go through ONNX together
WIDTH = 16  # lengths of padded titles are multiples of it


@dataclass(frozen=True, eq=False)
class Bag:
    """A network that is a bag; a title without a known unit has the embedding of the bias.

    Attributes:
        featurizer: of one kind of unit.
        rows: integers (uint8: two half bytes) or floats of each unit.
        scales: of each row.
        bias: added to the sum, or zeros.
        tanh: whether its hyperbolic tangent is the embedding.
    """

    featurizer: Featurizer
    rows: Shaped[np.ndarray, "unit _"]
    scales: Float32[np.ndarray, " unit"]
    bias: Float32[np.ndarray, " dim"]
    tanh: bool

    def __call__(self, titles: Sequence[str]) -> Float32[np.ndarray, "title dim"]:
        """Embed titles."""
        return self.embed(titles)[0]

    def embed(
        self, titles: Sequence[str]
    ) -> tuple[Float32[np.ndarray, "title dim"], Bool[np.ndarray, " title"]]:
        """Embed titles, and say which are longer than the network reads."""
        (ids,), truncated = self.featurizer(titles)
        starts = np.zeros(len(titles) + 1, np.int64)
        ids.lengths.cumsum(out=starts[1:])
        vectors = np.empty((len(titles), len(self.bias)), np.float32)
        for start in range(0, len(titles), SUMMED_AT_ONCE):
            part = slice(start, start + SUMMED_AT_ONCE)
            sums = self._sums(ids.flat, starts[start : part.stop + 1]) + self.bias
            if self.tanh:
                sums = np.tanh(sums)
            norms = np.sqrt((sums**2).sum(axis=1, keepdims=True))
            np.divide(sums, np.maximum(norms, 1e-12), out=vectors[part], casting="same_kind")
        return vectors, truncated | _longest(titles)

    def _sums(
        self, ids: Int[np.ndarray, " unit"], starts: Int[np.ndarray, " title+1"]
    ) -> Float64[np.ndarray, "title dim"]:
        sums = np.zeros((len(starts) - 1, len(self.bias)))
        if self.rows.dtype != np.uint8:
            add_rows(ids, starts, self.rows, self.scales, sums)
            return sums
        add_half_rows(ids, starts, self.rows, self.scales, sums)
        own = self.scales[ids[starts[0] : starts[-1]]].astype(np.float64)
        sums -= EIGHT * np.add.reduceat(own, starts[:-1] - starts[0])[:, None]
        return sums


class OnnxNetwork:
    """An encoder in ONNX."""

    def __init__(self, file: Path, featurizer: Featurizer) -> None:
        """Open the graph that `tasks/release/model_package` exported."""
        self._featurizer, self._session = featurizer, session(file, threads())
        self._names = [entry.name for entry in self._session.get_inputs()]
        self._dim = self._session.get_outputs()[0].shape[1]

    def __call__(self, titles: Sequence[str]) -> Float32[np.ndarray, "title dim"]:
        """Embed titles."""
        return self.embed(titles)[0]

    def embed(
        self, titles: Sequence[str]
    ) -> tuple[Float32[np.ndarray, "title dim"], Bool[np.ndarray, " title"]]:
        """Do the same as a bag; the embedding of a title depends on no other title."""
        streams, truncated = self._featurizer(titles)
        widths = np.array([-(-ids.lengths // WIDTH) * WIDTH for ids in streams])
        embeddings = np.empty((len(titles), self._dim), np.float32)
        order = np.lexsort(widths)
        ends = np.flatnonzero(np.diff(widths[:, order], append=0).any(axis=0)) + 1
        for alike in np.split(order, ends[:-1]):  # sums of floats depend on the padding, too
            for start in range(0, len(alike), RUN_AT_ONCE):
                rows = alike[start : start + RUN_AT_ONCE]
                parts = [
                    part
                    for ids, width in zip(streams, widths[:, rows[0]], strict=True)
                    for part in (_padded(ids, rows, width), ids.lengths[rows])
                ]
                feed = dict(zip(self._names, parts, strict=True))
                embeddings[rows] = self._session.run(None, feed)[0]
        return embeddings, truncated | _longest(titles)


def session(file: Path, workers: int) -> Any:  # noqa: ANN401  # onnxruntime has no types
    """Open an ONNX graph on the CPU, with so many threads."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # else its import writes to HOME
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = workers
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def _longest(titles: Sequence[str]) -> Bool[np.ndarray, " title"]:
    """Say which titles are as long as any may be, so that their end may have been cut."""
    return np.fromiter(map(len, titles), int, len(titles)) >= LONGEST


def _padded(ids: Ids, rows: Int[np.ndarray, " row"], width: int) -> Int[np.ndarray, "row width"]:
    """Return the ids of some titles, padded with 0."""
    ends = ids.lengths.cumsum()[rows, None]
    positions = ends - ids.lengths[rows, None] + np.arange(width)
    padded = np.zeros(positions.shape, np.int64)
    padded[positions < ends] = ids.flat[positions[positions < ends]]
    return padded
