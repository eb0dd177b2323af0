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
from concurrent.futures import Executor, Future, ThreadPoolExecutor
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


class _Unkept(NamedTuple):
    """New answers with their titles, the hashes of these, and the file that they will be."""

    file: int
    table: pa.Table
    hashes: np.ndarray


class PredictionCache:
    """Answers of one model by title; see `prediction_cache`."""

    def __init__(self, folder: Path, table: sqlite3.Connection, thread: Executor) -> None:
        self._folder, self._table, self._thread = folder, table, thread
        self._unkept: _Unkept | None = None
        self._keeping: Future[None] | None = None
        (last,) = table.execute("SELECT max(file) FROM files").fetchone()
        self._files = 0 if last is None else last + 1
        self._opened = lru_cache(MAPPED)(self._open)

    def __call__(self, titles: pa.Array, ask: Ask) -> Cached:
        """Return an answer for each of some distinct titles.

        While new ones are asked, a thread keeps those of the last call.
        """
        self._kept()
        hashes = hashes_of(titles)
        places = self._places(hashes)
        order = np.argsort(places, kind="stable")[np.count_nonzero(places < 0) :]
        rows, tables = np.full(len(titles), -1), list[pa.Table]()
        if len(order):
            known = self._taken(places[order])
            same = pc.equal(known[TITLE], titles.take(pa.array(order))).to_numpy()
            rows[order[same]] = np.flatnonzero(same)
            tables.append(known.drop_columns(TITLE))
        if self._unkept:
            self._keeping = self._thread.submit(self._keep, *self._unkept)
            self._unkept = None  # it needs memory only until it is kept
        missing = np.flatnonzero(rows < 0)
        if len(missing):
            new = titles.take(pa.array(missing))
            answers = ask(new.to_pylist()).combine_chunks()
            whole = answers.append_column(TITLE, new)
            self._unkept = _Unkept(self._files, whole, hashes[missing])
            self._files += 1
            rows[missing] = len(order) + np.arange(len(missing))
            tables.append(answers)
        return Cached(tables, rows, len(missing))

    def _places(self, hashes: np.ndarray) -> np.ndarray:
        """Return the place of each hash, -1 of a new one."""
        order = np.argsort(hashes, kind="stable")  # neighbours share a page of the table
        found = self._table.execute(PLACES, (json.dumps(hashes[order].tolist()),)).fetchall()
        places = np.empty(len(hashes), np.int64)
        places[order] = [-1 if place is None else place for (place,) in found]
        if self._unkept:
            own = np.argsort(self._unkept.hashes, kind="stable")
            ascending = self._unkept.hashes[own]
            at = np.minimum(np.searchsorted(ascending, hashes), len(own) - 1)
            new = (places < 0) & (ascending[at] == hashes)
            places[new] = (self._unkept.file << SHIFT) + own[at[new]]
        return places

    def keep(self) -> None:
        """Keep the answers to the new titles of all calls."""
        self._kept()
        unkept, self._unkept = self._unkept, None
        if unkept:
            self._keep(*unkept)

    def _kept(self) -> None:
        """Wait until the answers before the last ones are kept."""
        keeping, self._keeping = self._keeping, None
        if keeping:
            keeping.result()

    def _keep(self, file: int, whole: pa.Table, hashes: np.ndarray) -> None:
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
            self._read(file).take(pa.array(rows))
            for file, rows in zip(files.tolist(), own, strict=True)
        )

    def _read(self, file: int) -> pa.Table:
        if self._unkept and file == self._unkept.file:
            return self._unkept.table
        return self._opened(file)

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
            with ThreadPoolExecutor(1) as thread:
                cache = PredictionCache(folder, table, thread)
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
