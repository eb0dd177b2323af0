"""Cached answers on disk: the model answers each distinct title once, today and tomorrow.

A folder holds a table from title to place (SQLite) and the answers, in Arrow files that are mapped
into memory. Titles of a part and their answers come in together or not at all: a file is whole
before the table names it, and a file that no table names is overwritten. A folder belongs to one
model and its parameters.
"""

from __future__ import annotations

import fcntl
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from models.reproducibility.atomic_write import atomic_write

SHIFT = 24  # A place is file · 2^SHIFT + row
MAPPED = 512  # files mapped at once
PLACE = "SELECT place FROM cached WHERE title = ?"

Ask = Callable[[Sequence[str]], pa.Table]


class PredictionCache:
    """Answers of one model by title; see `prediction_cache`."""

    def __init__(self, folder: Path, table: sqlite3.Connection) -> None:
        self._folder, self._table = folder, table
        self._opened = lru_cache(MAPPED)(self._open)

    def __call__(self, titles: pa.Array, ask: Ask) -> tuple[pa.Table, int]:
        """Return an answer for each of some distinct titles, and how many were new."""
        places = self._places(titles)
        missing = np.flatnonzero(places < 0)
        if len(missing):
            new = titles.take(pa.array(missing))
            places[missing] = self._add(new, ask(new.to_pylist()))
        return self._taken(places), len(missing)

    def _places(self, titles: pa.Array) -> np.ndarray:
        """Return the place of each title, -1 of a new one."""
        find = self._table.cursor().execute
        cached = (find(PLACE, (title,)).fetchone() for title in titles.to_pylist())
        return np.array([-1 if one is None else one[0] for one in cached], np.int64)

    def _add(self, titles: pa.Array, answers: pa.Table) -> np.ndarray:
        """Keep answers to new titles; return their places."""
        (last,) = self._table.execute("SELECT max(place) FROM cached").fetchone()
        file = 0 if last is None else (last >> SHIFT) + 1
        with (
            atomic_write(self._folder / f"{file}.arrow") as partial,
            pa.OSFile(str(partial), "wb") as sink,
            pa.ipc.new_file(sink, answers.schema) as writer,
        ):
            writer.write_table(answers.combine_chunks())
        places = (file << SHIFT) + np.arange(len(titles))
        with self._table:
            pairs = zip(titles.to_pylist(), places.tolist(), strict=True)
            self._table.executemany("INSERT INTO cached VALUES (?, ?)", pairs)
        return places

    def _taken(self, places: np.ndarray) -> pa.Table:
        order = np.argsort(places, kind="stable")
        files, starts = np.unique(places[order] >> SHIFT, return_index=True)
        parts = [
            self._opened(int(file)).take(pa.array(rows & ((1 << SHIFT) - 1)))
            for file, rows in zip(files, np.split(places[order], starts[1:]), strict=True)
        ]
        return pa.concat_tables(parts).combine_chunks().take(pa.array(np.argsort(order)))

    def _open(self, file: int) -> pa.Table:
        return pa.ipc.open_file(pa.memory_map(str(self._folder / f"{file}.arrow"))).read_all()


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
        table = sqlite3.connect(folder / "titles.sqlite", isolation_level="DEFERRED")
        try:
            table.execute("PRAGMA journal_mode = WAL")
            table.execute("PRAGMA cache_size = -262144")  # 256 MiB
            table.execute(
                "CREATE TABLE IF NOT EXISTS cached (title TEXT PRIMARY KEY, "
                "place INTEGER NOT NULL) WITHOUT ROWID"
            )
            table.commit()
            yield PredictionCache(folder, table)
        finally:
            table.close()


def distinct(titles: pa.ChunkedArray) -> tuple[pa.Array, pa.Array]:
    """Return the distinct titles, and of each row the place of its own, null where it is null."""
    coded = pc.cast(titles, pa.string()).combine_chunks().dictionary_encode()
    return coded.dictionary, coded.indices
