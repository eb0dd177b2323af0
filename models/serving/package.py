"""A model package on the disk to a normalizer: its files checked and read.

This module knows nothing of MLflow and pandas, whose import takes seconds: a command that answers a
single title reads a package with it alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from models.serving.confidence import Calibration
from models.serving.embed import Bag, OnnxNetwork, session
from models.serving.index import StoredVectors
from models.serving.model import Normalizer
from models.serving.prototypes import Prototypes
from models.serving.qualifiers import Qualifiers, read_phrases
from models.serving.scores import ScoreRule
from models.serving.spelling import read_abbreviations
from models.text.featurizer import Featurizer
from models.text.texts import Coded, Texts
from models.text.words import TitleWords

NUMBERS = {"F32": np.float32, "I8": np.int8, "U8": np.uint8}  # of safetensors
FORMAT = 15  # counts up whenever a package's files change in a way that older code cannot read
CHECKSUMS = "SHA256SUMS"
OUTSIDE = "../../"
"""Begins the paths of the files outside of the package's folder: the code that serves it."""


def sha256(file: Path) -> str:
    """Return a file's SHA-256, in hexadecimal digits."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def check_files(folder: Path, *, with_code: bool = False) -> None:
    """Compare the files of a package with its checksums.

    `SHA256SUMS` has the form that `sha256sum` writes and checks, with paths from the package's
    folder. `with_code`: those of the code that MLflow keeps beside it, too.

    Raises:
        ValueError: a file is missing or altered, one was added to that code, or there are no
            checksums.
    """
    sums = folder / CHECKSUMS
    if not sums.is_file():
        raise ValueError(
            f"{sums} is missing: download the model again, or run `rolecall retrain` if an earlier "
            "version of rolecall registered it"
        )
    lines = sums.read_text(encoding="utf-8", errors="replace").splitlines()
    digests = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    for file in (folder / OUTSIDE / "code").rglob("*") if with_code else ():
        if file.is_file() and file.parent.name != "__pycache__":  # added, it could be imported
            digests.setdefault(file.relative_to(folder).as_posix(), "")
    for name, digest in digests.items():
        file = folder / name
        is_checked = with_code or not name.startswith(OUTSIDE)
        if is_checked and (not file.is_file() or sha256(file) != digest):
            raise ValueError(
                f"{file} is not the file that was registered, by its SHA-256 in {CHECKSUMS}: "
                "download the model again"
            )


def check_format(settings: Mapping[str, Any], package: str) -> None:
    """Raise a ValueError if `settings`, a package's `settings.json`, have another format."""
    number = settings.get("format", "unknown")
    if number != FORMAT:
        age = "a later version: update rolecall"
        if not isinstance(number, int) or number < FORMAT:
            age = "an earlier version: run `rolecall retrain`"
        raise ValueError(f"{package} has format {number}, not {FORMAT}; trained by {age}")


def read_normalizer(folder: Path, *, with_code: bool = False) -> Normalizer:
    """Read what `tasks/release/model_package/folder.py` wrote.

    `with_code`: the folder lies in a model of MLflow, whose code is checked too.

    Raises:
        ValueError: a file is not the one that was registered, the folder is of another format, or
            its index does not fit its aliases.
    """
    check_files(folder, with_code=with_code)
    return read_files(folder)


def read_files(folder: Path) -> Normalizer:
    """Do the same for files that nobody else wrote, without a look at their checksums."""
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    check_format(settings, str(folder))
    featurizer, columns = read_featurizer(folder), partial(_columns, folder)
    groups, words = columns("groups"), columns("words")
    counts = (
        {word: count for word, count in zip(words["word"], words[name], strict=True) if count}
        for name in ("titles", "ends", "begins")
    )
    normalizer = Normalizer(
        featurizer.alphabet,
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
    known = [Texts(units.data, units.offsets[start : end + 1]) for start, end in pairwise(ends)]
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
    positions = np.frombuffer(ends, wide)[whole.offset : whole.offset + len(whole) + 1]
    return Texts(data.to_pybytes() if data else b"", positions)


def _prototypes(file: Path) -> Prototypes | None:
    """Return the prototypes of a package that has enough occupations for them."""
    if not file.is_file():
        return None
    numbers = np.load(file.with_suffix(".npy"), mmap_mode="r", allow_pickle=False)
    graph = session(file.with_suffix(".onnx"), 1)  # several titles go through beside one another

    def product(digits: np.ndarray) -> np.ndarray:
        sums: np.ndarray = graph.run(None, {"digits": digits})[0]
        return sums

    with np.load(file, allow_pickle=False) as arrays:
        return Prototypes(numbers=numbers, product=product, **arrays)


def read_network(
    folder: Path, featurizer: Featurizer, bag: Mapping[str, Any] | None
) -> Bag | OnnxNetwork:
    """Return a package's network."""
    if not bag:
        return OnnxNetwork(folder / "encoder.onnx", featurizer)
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
    header = json.loads(whole[8:begin].tobytes())
    return {
        name: whole[begin + own["data_offsets"][0] : begin + own["data_offsets"][1]]
        .view(NUMBERS[own["dtype"]])
        .reshape(own["shape"])
        for name, own in header.items()
        if name != "__metadata__"
    }
