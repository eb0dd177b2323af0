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
from typing import NamedTuple

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


class Cached(NamedTuple):
    """Answers to some titles.

    Attributes:
        tables: of answers, to be read one behind the other.
        rows: where each title has its own in these.
        new: titles that had none before.
    """

    tables: list[pa.Table]
    rows: np.ndarray
    new: int


class PredictionCache:
    """Answers of one model by title; see `prediction_cache`."""

    def __init__(self, folder: Path, table: sqlite3.Connection) -> None:
        self._folder, self._table = folder, table
        self._unkept: tuple[pa.Array, np.ndarray, pa.Table] | None = None
        self._opened = lru_cache(MAPPED)(self._open)

    def __call__(self, titles: pa.Array, ask: Ask) -> Cached:
        """Return an answer for each of some distinct titles; the next call keeps the new ones."""
        self.keep()
        hashes = hashes_of(titles)
        places = self._places(hashes)
        order = np.argsort(places, kind="stable")[np.count_nonzero(places < 0) :]
        rows, tables = np.full(len(titles), -1), list[pa.Table]()
        if len(order):
            known = self._taken(places[order])
            same = pc.equal(known[TITLE], titles.take(pa.array(order))).to_numpy()
            rows[order[same]] = np.flatnonzero(same)
            tables.append(known.drop_columns(TITLE))
        missing = np.flatnonzero(rows < 0)
        if len(missing):
            new = titles.take(pa.array(missing))
            answers = ask(new.to_pylist()).combine_chunks()
            self._unkept = new, hashes[missing], answers
            rows[missing] = len(order) + np.arange(len(missing))
            tables.append(answers)
        return Cached(tables, rows, len(missing))

    def _places(self, hashes: np.ndarray) -> np.ndarray:
        """Return the place of each hash, -1 of a new one."""
        order = np.argsort(hashes, kind="stable")  # neighbours share a page of the table
        found = self._table.execute(PLACES, (json.dumps(hashes[order].tolist()),)).fetchall()
        places = np.empty(len(hashes), np.int64)
        places[order] = [-1 if place is None else place for (place,) in found]
        return places

    def keep(self) -> None:
        """Keep the answers to the new titles of the last call."""
        if self._unkept is None:
            return
        (titles, hashes, answers), self._unkept = self._unkept, None
        (last,) = self._table.execute("SELECT max(file) FROM files").fetchone()
        file = 0 if last is None else last + 1
        whole = answers.append_column(TITLE, titles)
        with (
            atomic_write(self._folder / f"{file}.arrow") as partial,
            pa.OSFile(str(partial), "wb") as sink,
            pa.ipc.new_file(sink, whole.schema) as writer,
        ):
            writer.write_table(whole)
        order = np.argsort(hashes, kind="stable")
        pairs = zip(hashes[order].tolist(), ((file << SHIFT) + order).tolist(), strict=True)
        with self._table:
            self._table.execute("INSERT INTO files VALUES (?)", (file,))
            self._table.executemany("INSERT OR IGNORE INTO cached VALUES (?, ?)", pairs)

    def _taken(self, places: np.ndarray) -> pa.Table:
        """Return the rows of ascending places."""
        files, starts = np.unique(places >> SHIFT, return_index=True)
        own = np.split(places & ((1 << SHIFT) - 1), starts[1:])
        return pa.concat_tables(
            self._opened(file).take(pa.array(rows))
            for file, rows in zip(files.tolist(), own, strict=True)
        )

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
        table = sqlite3.connect(
            folder / "places.sqlite", isolation_level="DEFERRED", check_same_thread=False
        )
        try:
            table.execute("PRAGMA journal_mode = WAL")
            table.execute("PRAGMA cache_size = -65536")  # 64 MiB
            table.execute(
                "CREATE TABLE IF NOT EXISTS cached (hash INTEGER PRIMARY KEY, "
                "place INTEGER NOT NULL)"
            )
            table.execute("CREATE TABLE IF NOT EXISTS files (file INTEGER PRIMARY KEY)")
            table.commit()
            cache = PredictionCache(folder, table)
            try:
                yield cache
            finally:
                cache.keep()
        finally:
            table.close()


def distinct(titles: pa.ChunkedArray) -> tuple[pa.Array, pa.Array]:
    """Return the distinct titles, and of each row the place of its own, null where it is null."""
    coded = pc.cast(titles, pa.string()).combine_chunks().dictionary_encode()
    return coded.dictionary, coded.indices
