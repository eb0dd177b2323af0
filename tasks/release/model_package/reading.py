"""A model package on the disk to a normalizer: the artefact folder, onnxruntime, numpy.

The file that consumers load contains this module (`tasks/release/model_package/serving_file.py`).
It knows nothing of MLflow and pandas, whose import takes seconds: a command that answers a single
title reads a package with it alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from models.normalizer.normalizer import Normalizer
from models.normalizer.package_checksums import check_files
from models.normalizer.package_format import check_format
from models.normalizer.qualifiers import Qualifiers, read_phrases
from models.search.calibration import Calibration
from models.search.occupation_scores import ScoreRule
from models.text.featurizer import Featurizer, Ids

BATCH = 256  # titles embedded at once
WIDTH = 16  # what the lengths of padded titles are multiples of


def read_normalizer(folder: Path, code: Path | None = None) -> Normalizer:
    """Read what `tasks/release/model_package/folder.py` wrote.

    `code`: the file that serves it, which MLflow copied beside it.

    Raises:
        ValueError: a file is not the one that was registered, the folder is of another format, or
            its index does not fit its aliases.
    """
    check_files(folder, code)
    settings, values = (
        json.loads((folder / name).read_text(encoding="utf-8"))
        for name in ("settings.json", "featurizer.json")
    )
    check_format(settings, str(folder))
    featurizer = Featurizer.from_values(values)
    normalizer = Normalizer(
        featurizer,
        Network(folder / "encoder.onnx", featurizer),
        _columns(folder / "aliases.parquet"),
        _columns(folder / "occupations.parquet"),
        _columns(folder / "exemplars.parquet"),
        _columns(folder / "overrides.parquet"),
        _unit_rows(np.load(folder / "index.npy", allow_pickle=False)),
        ScoreRule(**settings["rule"]),
        settings["calibration"] and Calibration(**settings["calibration"]),
        Qualifiers(read_phrases(folder / "qualifiers.csv")),
        settings["versions"],
        settings["top_k"],
        _groups(folder / "groups.parquet"),
    )
    titles = len(normalizer.index.titles) + len(set(normalizer.exemplars["title"]))
    if len(normalizer.embeddings) != titles:
        raise ValueError(
            f"{folder}: {len(normalizer.embeddings)} embeddings of {titles} titles; register again"
        )
    return normalizer


def _groups(file: Path) -> dict[str, str]:
    """Return the labels of codes; a package of an earlier version has none."""
    columns = _columns(file) if file.is_file() else {"code": [], "label": []}
    return dict(zip(columns["code"], columns["label"], strict=True))


def _columns(file: Path) -> dict[str, list[Any]]:
    with pq.ParquetFile(file) as table:  # `read_table` would import pandas
        columns = table.read()
    return {name: _values(columns[name]) for name in columns.column_names}


def _values(column: pa.ChunkedArray) -> list[Any]:
    """Return the values of a column; equal texts are one object, as most stand many times."""
    one: dict[str, str] = {}
    return [
        one.setdefault(value, value) if isinstance(value, str) else value
        for value in column.to_pylist()
    ]


class Network:
    """The encoder in ONNX: cleaned titles to embeddings of unit norm."""

    def __init__(self, file: Path, featurizer: Featurizer) -> None:
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # else its import writes to HOME
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        threads = os.environ.get("OMP_NUM_THREADS", "")  # a list, too, where threads are nested
        options.intra_op_num_threads = int(threads) if threads.isdecimal() else 0  # 0: all cores
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._featurizer = featurizer
        self._session = onnxruntime.InferenceSession(
            str(file), options, providers=["CPUExecutionProvider"]
        )
        self._names = [entry.name for entry in self._session.get_inputs()]
        self._dim = self._session.get_outputs()[0].shape[1]

    def __call__(self, titles: Sequence[str]) -> np.ndarray:
        """Embed [title, dim], float32; what a title gets depends on no other title."""
        streams = self._featurizer(titles).streams
        widths = np.array([-(-ids.lengths // WIDTH) * WIDTH for ids in streams])
        embeddings = np.empty((len(titles), self._dim), np.float32)
        order = np.lexsort(widths)
        ends = np.flatnonzero(np.diff(widths[:, order], append=0).any(axis=0)) + 1
        for alike in np.split(order, ends[:-1]):  # sums of floats depend on the padding, too
            for start in range(0, len(alike), BATCH):
                rows = alike[start : start + BATCH]
                parts = [
                    part
                    for ids, width in zip(streams, widths[:, rows[0]], strict=True)
                    for part in (_padded(ids, rows, width), ids.lengths[rows])
                ]
                feed = dict(zip(self._names, parts, strict=True))
                embeddings[rows] = self._session.run(None, feed)[0]
        return embeddings


def _padded(ids: Ids, rows: np.ndarray, width: int) -> np.ndarray:
    """Return the ids of some titles [row, width], padded with 0."""
    ends = np.cumsum(ids.lengths)[rows, None]
    places = ends - ids.lengths[rows, None] + np.arange(width)
    padded = np.zeros(places.shape, np.int64)
    padded[places < ends] = ids.flat[places[places < ends]]
    return padded


def _unit_rows(table: np.ndarray) -> np.ndarray:
    """Widen bytes, whose rows have lost their norm; floats have it, but for rounding."""
    rows = table.astype(np.float32)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms > 0, norms, 1)
