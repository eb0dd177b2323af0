"""Cached answers on disk: the model answers each distinct title once, today and tomorrow.

A folder holds a table from a title's hash to its place (SQLite), and titles with their answers in
Arrow files that are mapped into memory. Two titles of one hash are told apart by their text; the
second one is answered each time. Titles of a part and their answers come in together or not at
all: a file is whole before the table names it, and a file that no table names is overwritten. A
folder belongs to one model and its parameters.
"""

from __future__ import annotations

import fcntl
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from models.reproducibility.atomic_write import atomic_write

SHIFT = 24  # A place is file · 2^SHIFT + row
MAPPED = 512  # files mapped at once
PLACES = (
    "SELECT place FROM json_each(?) AS own LEFT JOIN cached ON hash = own.value ORDER BY own.key"
)
TITLE = "cached_title"

Ask = Callable[[Sequence[str]], pa.Table]


class PredictionCache:
    """Answers of one model by title; see `prediction_cache`."""

    def __init__(self, folder: Path, table: sqlite3.Connection) -> None:
        self._folder, self._table = folder, table
        self._opened = lru_cache(MAPPED)(self._open)

    def __call__(self, titles: pa.Array, ask: Ask) -> tuple[pa.Table, int]:
        """Return an answer for each of some distinct titles, and how many were new."""
        hashes = hashes_of(titles)
        places = self._places(hashes)
        known = np.flatnonzero(places >= 0)
        if len(known):
            cached = self._taken(places[known], [TITLE])[TITLE]
            same = pc.equal(cached, titles.take(pa.array(known))).to_numpy()
            places[known[~same]] = -1
        missing = np.flatnonzero(places < 0)
        if len(missing):
            new = titles.take(pa.array(missing))
            places[missing] = self._add(new, hashes[missing], ask(new.to_pylist()))
        return self._taken(places).drop_columns(TITLE), len(missing)

    def _places(self, hashes: np.ndarray) -> np.ndarray:
        """Return the place of each hash, -1 of a new one."""
        order = np.argsort(hashes, kind="stable")  # neighbours share a page of the table
        found = self._table.execute(PLACES, (json.dumps(hashes[order].tolist()),)).fetchall()
        places = np.empty(len(hashes), np.int64)
        places[order] = [-1 if place is None else place for (place,) in found]
        return places

    def _add(self, titles: pa.Array, hashes: np.ndarray, answers: pa.Table) -> np.ndarray:
        """Keep answers to new titles; return their places."""
        (last,) = self._table.execute("SELECT max(file) FROM files").fetchone()
        file = 0 if last is None else last + 1
        whole = answers.append_column(TITLE, titles).combine_chunks()
        with (
            atomic_write(self._folder / f"{file}.arrow") as partial,
            pa.OSFile(str(partial), "wb") as sink,
            pa.ipc.new_file(sink, whole.schema) as writer,
        ):
            writer.write_table(whole)
        places = (file << SHIFT) + np.arange(len(titles))
        order = np.argsort(hashes, kind="stable")
        pairs = zip(hashes[order].tolist(), places[order].tolist(), strict=True)
        with self._table:
            self._table.execute("INSERT INTO files VALUES (?)", (file,))
            self._table.executemany("INSERT OR IGNORE INTO cached VALUES (?, ?)", pairs)
        return places

    def _taken(self, places: np.ndarray, names: Sequence[str] | None = None) -> pa.Table:
        """Return the columns of places in the order of these; all, unless some are named."""
        order = np.argsort(places, kind="stable")
        files, starts = np.unique(places[order] >> SHIFT, return_index=True)
        parts = []
        for file, rows in zip(files.tolist(), np.split(places[order], starts[1:]), strict=True):
            table = self._opened(file)
            own = table if names is None else table.select(names)
            parts.append(own.take(pa.array(rows & ((1 << SHIFT) - 1))))
        return pa.concat_tables(parts).combine_chunks().take(pa.array(np.argsort(order)))

    def _open(self, file: int) -> pa.Table:
        return pa.ipc.open_file(pa.memory_map(str(self._folder / f"{file}.arrow"))).read_all()


def hashes_of(titles: pa.Array) -> np.ndarray:
    """Return a signed number of 64 bits for each title; another polars may give another one."""
    return pl.Series(pl.from_arrow(titles)).hash().to_numpy().view(np.int64)


@contextmanager
def prediction_cache(folder: Path) -> Iterator[PredictionCache]:
    """Open a folder, made if it is missing; ValueError if another run has it open."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ValueError(
                f"another run keeps its answers in {folder}: wait for it, or name another folder: "
                "--cache-dir"
            ) from None
        table = sqlite3.connect(folder / "places.sqlite", isolation_level="DEFERRED")
        try:
            table.execute("PRAGMA journal_mode = WAL")
            table.execute("PRAGMA cache_size = -262144")  # 256 MiB
            table.execute(
                "CREATE TABLE IF NOT EXISTS cached (hash INTEGER PRIMARY KEY, "
                "place INTEGER NOT NULL)"
            )
            table.execute("CREATE TABLE IF NOT EXISTS files (file INTEGER PRIMARY KEY)")
            table.commit()
            yield PredictionCache(folder, table)
        finally:
            table.close()


def distinct(titles: pa.ChunkedArray) -> tuple[pa.Array, pa.Array]:
    """Return the distinct titles, and of each row the place of its own, null where it is null."""
    coded = pc.cast(titles, pa.string()).combine_chunks().dictionary_encode()
    return coded.dictionary, coded.indices
