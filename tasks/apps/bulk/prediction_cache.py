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
from dataclasses import dataclass
from functools import lru_cache, partial
from operator import methodcaller
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from models.reproducibility.atomic_write import atomic_write
from tasks.apps.bulk.disk_faults import usable

SHIFT = 24  # A place is file · 2^SHIFT + row
MAPPED = 512  # files mapped at once
PLACES = (
    "SELECT json_group_array(coalesce(place, -1)) FROM (SELECT place FROM json_each(?) AS own "
    "LEFT JOIN cached ON hash = own.value ORDER BY own.key)"
)
TITLE = "cached_title"
TITLES, ANSWERS = methodcaller("select", [TITLE]), methodcaller("drop_columns", TITLE)

Ask = Callable[[Sequence[str]], Callable[[], pa.Table]]
"""Begins to answer titles; what it returns waits for the answers."""


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


@dataclass(eq=False)
class _Unkept:
    """New titles in the file that they will be.

    Attributes:
        file: its number.
        hashes: of the titles, ascending.
        order: the row of each.
        table: the titles, and then their answers before them.
        keeping: waits until the file is there.
    """

    file: int
    hashes: np.ndarray
    order: np.ndarray
    table: pa.Table
    keeping: Future[None] | None = None


class PredictionCache:
    """Answers of one model by title; see `prediction_cache`."""

    def __init__(self, folder: Path, table: sqlite3.Connection, thread: Executor) -> None:
        self._folder, self._table, self._thread = folder, table, thread
        self._lock = Lock()  # of the table
        self._unkept = dict[int, _Unkept]()
        (last,) = table.execute("SELECT max(file) FROM files").fetchone()
        self._files = 0 if last is None else last + 1
        self._opened = lru_cache(MAPPED)(self._open)

    def __call__(self, titles: pa.Array, ask: Ask) -> Callable[[], Cached]:
        """Look some distinct titles up, and begin to ask for those that have no answer.

        The returned function waits for the answers, and a thread then keeps them. Call these
        functions in the order in which they were returned. Other titles may be looked up before.
        """
        self.keep()
        hashes = hashes_of(titles)
        places = self._places(hashes)
        order = np.argsort(places, kind="stable")[np.count_nonzero(places < 0) :]
        if len(order):
            known = self._taken(places[order], TITLES)[TITLE]
            order = order[pc.equal(known, titles.take(pa.array(order))).to_numpy()]
        missing = np.delete(np.arange(len(titles)), order)
        rows = np.empty(len(titles), np.int64)
        rows[np.concatenate([order, missing])] = np.arange(len(titles))
        if not len(missing):
            return partial(self._cached, places[order], rows)
        new, own = titles.take(pa.array(missing)), hashes[missing]
        ascending = np.argsort(own, kind="stable")
        unkept = _Unkept(self._files, own[ascending], ascending, pa.table({TITLE: new}))
        self._unkept[self._files] = unkept
        self._files += 1
        return partial(self._cached, places[order], rows, unkept, ask(new.to_pylist()))

    def _places(self, hashes: np.ndarray) -> np.ndarray:
        """Return the place of each hash, -1 of a new one."""
        order = np.argsort(hashes, kind="stable")  # neighbours share a page of the table
        query, unkept = json.dumps(hashes[order].tolist()), [*self._unkept.values()]
        with self._lock, usable(self._folder):
            (found,) = self._table.execute(PLACES, (query,)).fetchone()
        places = np.empty(len(hashes), np.int64)
        places[order] = json.loads(found)
        for own in unkept:
            at = np.minimum(np.searchsorted(own.hashes, hashes), len(own.hashes) - 1)
            new = (places < 0) & (own.hashes[at] == hashes)
            places[new] = (own.file << SHIFT) + own.order[at[new]]
        return places

    def _cached(
        self,
        places: np.ndarray,
        rows: np.ndarray,
        unkept: _Unkept | None = None,
        answers: Callable[[], pa.Table] | None = None,
    ) -> Cached:
        """Take the answers at ascending places, and those that are waited for."""
        tables = [self._taken(places, ANSWERS)] if len(places) else []
        if unkept and answers:
            try:
                tables.append(answers().combine_chunks())
            except BaseException:
                del self._unkept[unkept.file]
                raise
            unkept.table = tables[-1].append_column(TITLE, unkept.table[TITLE])
            unkept.keeping = self._thread.submit(self._keep, unkept)
        return Cached(tables, rows, len(rows) - len(places))

    def keep(self) -> None:
        """Wait until the answers so far are kept."""
        for own in [*self._unkept.values()]:
            if own.keeping:
                own.keeping.result()

    def _keep(self, own: _Unkept) -> None:
        with (
            atomic_write(self._folder / f"{own.file}.arrow") as partly,
            pa.OSFile(str(partly), "wb") as sink,
            pa.ipc.new_file(sink, own.table.schema) as writer,
        ):
            writer.write_table(own.table)
        places = (own.file << SHIFT) + own.order
        pairs = zip(own.hashes.tolist(), places.tolist(), strict=True)
        with self._lock, self._table:
            self._table.execute("INSERT INTO files VALUES (?)", (own.file,))
            self._table.executemany("INSERT OR IGNORE INTO cached VALUES (?, ?)", pairs)
        del self._unkept[own.file]

    def _taken(self, places: np.ndarray, part: Callable[[pa.Table], pa.Table]) -> pa.Table:
        """Return a part of the columns, in the rows of ascending places."""
        files, starts = np.unique(places >> SHIFT, return_index=True)
        own = np.split(places & ((1 << SHIFT) - 1), starts[1:])
        return pa.concat_tables(
            part(self._read(file)).take(pa.array(rows))
            for file, rows in zip(files.tolist(), own, strict=True)
        )

    def _read(self, file: int) -> pa.Table:
        own = self._unkept.get(file)
        return own.table if own else self._opened(file)

    def _open(self, file: int) -> pa.Table:
        with usable(self._folder):
            table = pa.ipc.open_file(pa.memory_map(str(self._folder / f"{file}.arrow"))).read_all()
            table.validate()
            return table


def hashes_of(titles: pa.Array) -> np.ndarray:
    """Return a signed number of 64 bits for each title; another polars may give another one."""
    return pl.Series(pl.from_arrow(titles)).hash().to_numpy().view(np.int64)


@contextmanager
def prediction_cache(folder: Path) -> Iterator[PredictionCache]:
    """Open a folder, made if it is missing; ValueError if another run has it open."""
    with usable(folder):
        folder.mkdir(parents=True, exist_ok=True)
        opened = (folder / "lock").open("w")
    with opened as lock:
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
            with usable(folder):
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
