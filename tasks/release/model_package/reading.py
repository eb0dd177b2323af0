"""A model package on the disk to a normalizer: the artefact folder, onnxruntime, numpy.

The file that consumers load contains this module (`tasks/release/model_package/serving_file.py`).
It knows nothing of MLflow and pandas, whose import takes seconds: a command that answers a single
title reads a package with it alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from models.normalizer.abbreviations import read_abbreviations
from models.normalizer.bag import Bag
from models.normalizer.normalizer import Normalizer
from models.normalizer.package_checksums import check_files
from models.normalizer.package_format import check_format
from models.normalizer.qualifiers import Qualifiers, read_phrases
from models.search.calibration import Calibration
from models.search.coded import Coded
from models.search.compiling import threads
from models.search.occupation_scores import ScoreRule
from models.search.prototypes import Prototypes
from models.search.stored_vectors import StoredVectors
from models.search.words.title_words import TitleWords
from models.text.featurizer import Featurizer, Ids
from models.text.texts import Texts

BATCH = 256  # titles embedded at once
NUMBERS = {"F32": np.float32, "I8": np.int8, "U8": np.uint8}  # of safetensors
WIDTH = 16  # what the lengths of padded titles are multiples of


def read_normalizer(folder: Path, code: Path | None = None) -> Normalizer:
    """Read what `tasks/release/model_package/folder.py` wrote.

    `code`: the file that serves it, which MLflow copied beside it.

    Raises:
        ValueError: a file is not the one that was registered, the folder is of another format, or
            its index does not fit its aliases.
    """
    check_files(folder, code)
    return read_files(folder)


def read_files(folder: Path) -> Normalizer:
    """Do the same for files that nobody else wrote, without a look at their checksums."""
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    check_format(settings, str(folder))
    featurizer, columns = read_featurizer(folder), partial(_columns, folder)
    groups, words = columns("groups"), columns("words")
    counts = (
        {word: count for word, count in zip(words["word"], words[place], strict=True) if count}
        for place in ("titles", "ends", "begins")
    )
    normalizer = Normalizer(
        featurizer,
        read_network(folder, featurizer, settings["bag"]),
        _aliases(folder),
        columns("occupations"),
        columns("exemplars"),
        columns("overrides"),
        StoredVectors(np.asarray(np.load(folder / "index.npy", mmap_mode="r", allow_pickle=False))),
        ScoreRule(**settings["rule"]),
        settings["calibration"] and Calibration(**settings["calibration"]),
        Qualifiers(read_phrases(folder / "qualifiers.csv")),
        settings["versions"],
        settings["top_k"],
        TitleWords(*counts),
        dict(zip(groups["code"], groups["label"], strict=True)),
        _prototypes(folder / "prototypes.npz"),
        read_abbreviations(folder / "abbreviations.csv"),
    )
    titles = len(normalizer.index.titles) + len(set(normalizer.exemplars["title"]))
    if len(normalizer.embeddings) != titles:
        raise ValueError(
            f"{folder}: {len(normalizer.embeddings)} embeddings of {titles} titles; register again"
        )
    return normalizer


def read_featurizer(folder: Path) -> Featurizer:
    """Read how titles are featurized; the units of its vocabularies stand in one column."""
    values = json.loads((folder / "featurizer.json").read_text(encoding="utf-8"))
    units, ends = _texts(_table(folder / "vocabulary.parquet")["unit"]), [0]
    for fitted in values["vocabularies"]:
        ends.append(ends[-1] + fitted["size"])
    known = [Texts(units.data, units.ends[start : end + 1]) for start, end in pairwise(ends)]
    return Featurizer.from_values(values, known)


def _aliases(folder: Path) -> dict[str, Any]:
    """Return columns of text that repeats as numbers of distinct texts."""
    repeating = ["occupation_id", "language", "split"]
    table = _table(folder / "aliases.parquet", repeating)
    titles = _texts(_table(folder / "titles.parquet")["title"])
    return {
        **{name: _coded(table[name]) for name in repeating},
        "title": Coded(titles, _numbers(table["title"].combine_chunks(), np.int64)),
        "written": _texts(table["written"]),
        "preferred": _booleans(table["preferred"].combine_chunks()),
    }


def _table(file: Path, repeating: Sequence[str] = ()) -> pa.Table:
    with pq.ParquetFile(file, read_dictionary=repeating) as table:  # `read_table` imports pandas
        return table.read()


def _columns(folder: Path, name: str) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = _table(folder / f"{name}.parquet").to_pydict()
    return columns


def _coded(column: pa.ChunkedArray) -> Coded:
    whole = column.unify_dictionaries()
    names = np.array(whole.chunk(0).dictionary.to_pylist(), object)
    order = np.argsort(names)
    codes = np.concatenate([_numbers(part.indices, np.int32) for part in whole.chunks])
    return Coded(names[order].tolist(), np.argsort(order)[codes])


def _numbers(column: pa.Array, kind: type[np.generic]) -> np.ndarray:
    """Return the values of a column without nulls; `to_numpy` would import pandas."""
    return np.frombuffer(column.buffers()[1], kind)[column.offset :][: len(column)]


def _booleans(column: pa.BooleanArray) -> np.ndarray:
    bits = np.unpackbits(np.frombuffer(column.buffers()[1], np.uint8), bitorder="little")
    return bits[column.offset :][: len(column)]


def _texts(column: pa.ChunkedArray) -> Texts:
    whole = column.combine_chunks()
    _, ends, data = whole.buffers()
    wide = np.int64 if pa.types.is_large_string(whole.type) else np.int32
    places = np.frombuffer(ends, wide)[whole.offset : whole.offset + len(whole) + 1]
    return Texts(data.to_pybytes() if data else b"", places)


def _prototypes(file: Path) -> Prototypes | None:
    """Return the prototypes of a package that has enough occupations for them."""
    if not file.is_file():
        return None
    numbers = np.load(file.with_suffix(".npy"), mmap_mode="r", allow_pickle=False)
    with np.load(file, allow_pickle=False) as arrays:
        product = PrototypeProduct(file.with_suffix(".onnx"))
        return Prototypes(numbers=numbers, product=product, **arrays)


class PrototypeProduct:
    """Products of titles in bytes with the numbers of prototypes."""

    def __init__(self, file: Path) -> None:
        self._session = _session(file, 1)  # several titles go through beside one another

    def __call__(self, digits: np.ndarray) -> np.ndarray:
        """Return [title, prototype], int32, of uint8 [title, axis]."""
        sums: np.ndarray = self._session.run(None, {"digits": digits})[0]
        return sums


def _session(file: Path, workers: int) -> Any:  # noqa: ANN401  # onnxruntime has no types
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # else its import writes to HOME
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = workers
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def read_network(
    folder: Path, featurizer: Featurizer, bag: Mapping[str, Any] | None
) -> Bag | Network:
    """Return a package's network."""
    if not bag:
        return Network(folder / "encoder.onnx", featurizer)
    weights = read_weights(folder / "weights.safetensors")
    rows = weights[bag["table"]]
    scales = weights.get(f"{bag['table']}.scale", np.ones(len(rows), np.float32)).reshape(-1)
    dim = rows.shape[1] * (2 if rows.dtype == np.uint8 else 1)
    bias = weights.get(bag["bias"], np.zeros(dim, np.float32))
    return Bag(featurizer, rows, scales, bias, bag["tanh"])


def read_weights(file: Path) -> dict[str, np.ndarray]:
    """Map the tensors of a safetensors file into memory."""
    whole = np.asarray(np.memmap(file, np.uint8, "r"))
    begin = 8 + int.from_bytes(whole[:8].tobytes(), "little")
    places = json.loads(whole[8:begin].tobytes())
    return {
        name: whole[begin + place["data_offsets"][0] : begin + place["data_offsets"][1]]
        .view(NUMBERS[place["dtype"]])
        .reshape(place["shape"])
        for name, place in places.items()
        if name != "__metadata__"
    }


class Network:
    """The encoder in ONNX: cleaned titles to embeddings of unit norm."""

    def __init__(self, file: Path, featurizer: Featurizer) -> None:
        self._featurizer, self._session = featurizer, _session(file, threads())
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
