"""Cached answers on disk: the model answers each distinct title once, today and tomorrow.

A folder holds Arrow files of titles with their answers, mapped into memory, and a table (SQLite)
from a title's hash to its position in these. Texts of answers are numbers in the files, and the
table lists the texts: a run takes and joins numbers, and no text is copied for a row. Two titles
of one hash are told apart by their text; the second one is answered each time. Titles of a part
and their answers come in together or not at all: a file is whole before the table names it, and a
file that no table names is overwritten. A folder belongs to one model and its parameters.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import lru_cache
from itertools import count
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from models.reproducibility import atomic_write

SHIFT = 24  # a position is file · 2^SHIFT + row
MAPPED = 512  # files mapped at once
RECENT = 1 << 22  # positions kept in memory, one for each value of a hash's last bits
POSITIONS = (
    "SELECT json_group_array(coalesce(position, -1)) FROM (SELECT position FROM json_each(?) AS "
    "own LEFT JOIN cached ON hash = own.value ORDER BY own.key)"
)
TABLES = (
    "cached (hash INTEGER PRIMARY KEY, position INTEGER NOT NULL)",
    "files (file INTEGER PRIMARY KEY)",
    "texts (number INTEGER PRIMARY KEY, text TEXT NOT NULL)",
)
TITLE = "cached_title"
FULL = "database or disk is full"
DAMAGED = (pa.ArrowException, OSError, sqlite3.DatabaseError)

Ask = Callable[[Sequence[str]], Callable[[], pa.Table]]  # begins to answer; then waits for it


class Cached(NamedTuple):
    """Answers to some titles, with numbers for texts."""

    tables: list[pa.Table]  # of answers, to be read one behind the other
    rows: np.ndarray  # the row in these of each title
    new: int  # titles that had no answer before


class PredictionCache:
    """Answers of one model by title; see `prediction_cache`."""

    def __init__(
        self, folder: Path, schema: pa.Schema, table: sqlite3.Connection, thread: Executor
    ) -> None:
        self._folder, self._schema, self._table, self._thread = folder, schema, table, thread
        self._lock = Lock()  # of the table
        self._unkept = dict[int, pa.Table]()  # files that are not written yet
        self._keeping: list[Future[None]] = []
        (self._files,) = table.execute("SELECT coalesce(max(file) + 1, 0) FROM files").fetchone()
        self._opened = lru_cache(MAPPED)(self._open)
        self._hashes, self._recent = np.zeros(RECENT, np.int64), np.full(RECENT, -1)
        texts = [text for (text,) in table.execute("SELECT text FROM texts ORDER BY number")]
        self._texts, self._numbers = pa.array(texts, pa.string()), dict(zip(texts, count()))

    def __call__(self, titles: pa.Array, ask: Ask) -> Callable[[], Cached]:
        """Look some distinct titles up, and begin to ask for those that have no answer.

        The returned function waits for the answers, and a thread then keeps them. Call these
        functions in the order in which they were returned. Other titles may be looked up before,
        and those that are still being answered are not asked again.
        """
        self.keep()
        hashes = hashes_of(titles)
        positions = self._positions(hashes)
        order = np.argsort(positions, kind="stable")[np.count_nonzero(positions < 0) :]
        if len(order):
            known = self._taken(positions[order], [TITLE])[TITLE]
            order = order[pc.equal(known, titles.take(pa.array(order))).to_numpy()]
        old, missing = positions[order], np.delete(np.arange(len(titles)), order)
        rows = np.empty(len(titles), np.int64)
        rows[np.concatenate([order, missing])] = np.arange(len(titles))
        file, waiting = self._files, None
        if len(missing):
            self._unkept[file] = pa.table({TITLE: titles.take(pa.array(missing))})
            self._files += 1
            waiting = ask(self._unkept[file][TITLE].to_pylist())
        positions[missing] = (file << SHIFT) + np.arange(len(missing))
        slots = hashes & (RECENT - 1)
        self._hashes[slots], self._recent[slots] = hashes, positions

        def answered() -> Cached:
            tables = [self._taken(old, self._schema.names)] if len(old) else []
            if waiting:
                answers = self.numbered(waiting())
                tables.append(answers)
                self._unkept[file] = answers.append_column(TITLE, self._unkept[file][TITLE])
                self._keeping.append(
                    self._thread.submit(self._keep, file, hashes[missing], len(self._texts))
                )
            return Cached(tables, rows, len(missing))

        return answered

    def _positions(self, hashes: np.ndarray) -> np.ndarray:
        """Return the position of each hash, -1 of a new one."""
        slots = hashes & (RECENT - 1)
        positions = np.where(self._hashes[slots] == hashes, self._recent[slots], -1)
        order = np.flatnonzero(positions < 0)
        if len(order):
            order = order[np.argsort(hashes[order])]  # neighbours share a page of the table
            query = json.dumps(hashes[order].tolist())
            with self._lock, usable(self._folder):
                (known,) = self._table.execute(POSITIONS, (query,)).fetchone()
            positions[order] = json.loads(known)
        return positions

    def keep(self) -> None:
        """Wait until the answers so far are kept."""
        while self._keeping:
            self._keeping.pop(0).result()

    def _keep(self, file: int, hashes: np.ndarray, texts: int) -> None:
        """Write a file, and name it in the table with its titles and all of the first texts."""
        with (
            atomic_write(self._folder / f"{file}.arrow") as partly,
            pa.OSFile(str(partly), "wb") as sink,
            pa.ipc.new_file(sink, self._unkept[file].schema) as writer,
        ):
            writer.write_table(self._unkept[file])
        order = np.argsort(hashes)
        pairs = zip(hashes[order].tolist(), ((file << SHIFT) + order).tolist(), strict=True)
        with self._lock, self._table:
            (kept,) = self._table.execute("SELECT count(*) FROM texts").fetchone()
            new = enumerate(self._texts[kept:texts].to_pylist(), start=kept)
            self._table.executemany("INSERT INTO texts VALUES (?, ?)", new)
            self._table.execute("INSERT INTO files VALUES (?)", (file,))
            self._table.executemany("INSERT OR IGNORE INTO cached VALUES (?, ?)", pairs)
        del self._unkept[file]

    def _taken(self, positions: np.ndarray, columns: Sequence[str]) -> pa.Table:
        """Return the rows at ascending positions."""
        files, starts = np.unique(positions >> SHIFT, return_index=True)
        rows = np.split(positions & ((1 << SHIFT) - 1), starts[1:])
        return pa.concat_tables(
            self._file(file).select(columns).take(pa.array(own))
            for file, own in zip(files.tolist(), rows, strict=True)
        )

    def _file(self, file: int) -> pa.Table:
        unkept = self._unkept.get(file)  # once: a thread removes it
        return self._opened(file) if unkept is None else unkept

    def _open(self, file: int) -> pa.Table:
        with usable(self._folder):
            table = pa.ipc.open_file(pa.memory_map(str(self._folder / f"{file}.arrow"))).read_all()
            table.validate()
            return table

    def numbered(self, answers: pa.Table) -> pa.Table:
        """Put a number in place of each text; a new text gets the next one."""
        columns = [self._numbers_of(column.combine_chunks()) for column in answers.columns]
        new = list(self._numbers)[len(self._texts) :]
        self._texts = pa.concat_arrays([self._texts, pa.array(new, pa.string())])
        return pa.table(columns, answers.schema.names)

    def _numbers_of(self, column: pa.Array) -> pa.Array:
        if pa.types.is_list(column.type):
            return _with_values(column, self._numbers_of(column.values))
        if not pa.types.is_string(column.type):
            return column
        coded, own = column.dictionary_encode(), self._numbers
        numbers = [own.setdefault(text, len(own)) for text in coded.dictionary.to_pylist()]
        return pa.array(numbers, pa.int32()).take(coded.indices)

    def with_texts(self, numbered: pa.Table) -> pa.Table:
        """Put texts in place of numbers: dictionaries of the texts that occur, in their order."""
        kinds = zip(numbered.columns, self._schema.types, strict=True)
        columns = [self._texts_of(column.combine_chunks(), kind) for column, kind in kinds]
        return pa.table(columns, self._schema.names)

    def _texts_of(self, column: pa.Array, kind: pa.DataType) -> pa.Array:
        if pa.types.is_list(kind):
            return _with_values(column, self._texts_of(column.values, kind.value_type))
        if not pa.types.is_string(kind):
            return column
        coded = column.dictionary_encode()
        return pa.DictionaryArray.from_arrays(coded.indices, self._texts.take(coded.dictionary))


def _with_values(lists: pa.ListArray, values: pa.Array) -> pa.ListArray:
    mask = lists.is_null() if lists.null_count else None
    return pa.ListArray.from_arrays(lists.offsets, values, mask=mask)


def hashes_of(titles: pa.Array) -> np.ndarray:
    """Return a signed number of 64 bits for each title; another polars may give another one."""
    return pl.Series(pl.from_arrow(titles)).hash().to_numpy().view(np.int64)


@contextmanager
def prediction_cache(folder: Path, schema: pa.Schema) -> Iterator[PredictionCache]:
    """Open a folder of answers of a schema, made if missing; ValueError if another run has it."""
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
        connection = sqlite3.connect(
            folder / "positions.sqlite", isolation_level="DEFERRED", check_same_thread=False
        )
        with closing(connection) as table, ThreadPoolExecutor(1) as thread:
            with usable(folder):
                table.execute("PRAGMA journal_mode = WAL")
                table.execute("PRAGMA cache_size = -65536")  # 64 MiB
                for columns in TABLES:
                    table.execute(f"CREATE TABLE IF NOT EXISTS {columns}")
                table.commit()
                cache = PredictionCache(folder, schema, table, thread)
            try:
                yield cache
            finally:
                cache.keep()


@contextmanager
def usable(folder: Path) -> Iterator[None]:
    """Read what a folder of answers keeps; ValueError, with what to do, if it is damaged."""
    try:
        yield
    except DAMAGED as error:
        if is_disk_full(error):
            raise
        raise ValueError(
            f"the kept answers in {folder} cannot be used ({error}): remove this folder and run "
            "again, which asks the model anew, or name another one: --cache-dir"
        ) from None


def is_disk_full(error: Exception) -> bool:
    """Tell whether there was no room, whichever library says so."""
    return getattr(error, "errno", None) == errno.ENOSPC or any(
        text in str(error) for text in (FULL, os.strerror(errno.ENOSPC))
    )
