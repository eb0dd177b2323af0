"""Stores for the prediction cache, at so many known titles.

`python results/trials/cache.py FOLDER` needs `pip install lmdb duckdb` and some gigabytes. Keys are
numbers of 64 bits, as hashes of titles are, and values are places. Each store gets all keys but
those of one part, sorted; then parts of 131,072 keys are looked up, half of them known, and one
part is added. Prints CSV: microseconds of a key, and the size; the median of `REPEATS` parts.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import lmdb
import numpy as np
import polars as pl

PART, REPEATS, AT_ONCE = 1 << 17, 5, 1 << 20


class Sqlite:
    """The product's table: `tasks/apps/bulk/prediction_cache.py`."""

    def __init__(self, folder: Path) -> None:
        """Open an empty one."""
        self.table = sqlite3.connect(folder / "places.sqlite")
        self.table.execute("PRAGMA journal_mode = WAL")
        self.table.execute("PRAGMA cache_size = -262144")
        self.table.execute("CREATE TABLE cached (hash INTEGER PRIMARY KEY, place INTEGER)")

    def add(self, keys: np.ndarray) -> None:
        """Keep sorted keys."""
        with self.table:
            pairs = zip(keys.tolist(), range(len(keys)), strict=True)
            self.table.executemany("INSERT OR IGNORE INTO cached VALUES (?, ?)", pairs)

    def find(self, keys: np.ndarray) -> int:
        """Return how many of some keys are known."""
        query = "SELECT place FROM json_each(?) o LEFT JOIN cached ON hash = o.value ORDER BY o.key"
        found = self.table.execute(query, (json.dumps(keys.tolist()),)).fetchall()
        return sum(place is not None for (place,) in found)


class Lmdb:
    """Keys of eight bytes, looked up by one cursor."""

    def __init__(self, folder: Path) -> None:
        """Open an empty one."""
        self.table = lmdb.open(str(folder), map_size=1 << 35)

    def add(self, keys: np.ndarray) -> None:
        """Keep sorted keys."""
        ordered = np.sort(keys.astype(">i8").view(">u8"))
        pairs = [(key.tobytes(), b"12345678") for key in ordered]
        with self.table.begin(write=True) as step, step.cursor() as cursor:
            cursor.putmulti(pairs, overwrite=False)

    def find(self, keys: np.ndarray) -> int:
        """Return how many of some keys are known."""
        asked = [key.tobytes() for key in np.sort(keys.astype(">i8").view(">u8"))]
        with self.table.begin() as step, step.cursor() as cursor:
            return len(cursor.getmulti(asked))


class Duckdb:
    """A table without an index, joined with the keys."""

    def __init__(self, folder: Path) -> None:
        """Open an empty one."""
        self.table = duckdb.connect(str(folder / "places.duckdb"), config={"threads": 1})
        self.table.execute("CREATE TABLE cached (hash BIGINT, place BIGINT)")

    def add(self, keys: np.ndarray) -> None:
        """Keep sorted keys."""
        own = pl.DataFrame({"hash": keys, "place": np.arange(len(keys))}).to_arrow()
        self.table.register("own", own)
        self.table.execute("INSERT INTO cached SELECT * FROM own")

    def find(self, keys: np.ndarray) -> int:
        """Return how many of some keys are known."""
        self.table.register("own", pl.DataFrame({"hash": keys}).to_arrow())
        query = "SELECT place FROM own LEFT JOIN cached USING (hash)"
        return len(self.table.execute(query).to_arrow_table()["place"].drop_null())


class Parquet:
    """Sorted files, joined with the keys by hashing these."""

    def __init__(self, folder: Path) -> None:
        """Open an empty one."""
        self.folder, self.files = folder, 0

    def add(self, keys: np.ndarray) -> None:
        """Keep sorted keys."""
        own = pl.DataFrame({"hash": keys, "place": np.arange(len(keys))}).sort("hash")
        own.write_parquet(self.folder / f"{self.files}.parquet")
        self.files += 1

    def find(self, keys: np.ndarray) -> int:
        """Return how many of some keys are known."""
        known = pl.scan_parquet(self.folder / "*.parquet")
        own = pl.LazyFrame({"hash": keys})
        found = own.join(known, on="hash", how="inner").select(pl.len())
        return int(found.collect(engine="streaming").item())


STORES = {"sqlite": Sqlite, "lmdb": Lmdb, "duckdb": Duckdb, "parquet": Parquet}


def seconds(run: Callable[[np.ndarray], object], keys: np.ndarray) -> float:
    """Time a step."""
    began = time.perf_counter()
    run(keys)
    return time.perf_counter() - began


def main() -> None:
    """Print the figures of every store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--known", type=int, nargs="+", default=[10_000_000, 100_000_000])
    parser.add_argument("--stores", nargs="+", default=[*STORES])
    options = parser.parse_args()
    print("store,known,build,find,add,gigabytes")
    for count in options.known:
        rng = np.random.default_rng(1)
        keys = np.unique(rng.integers(-(1 << 62), 1 << 62, count + PART * REPEATS))
        is_new = rng.random(len(keys)) < PART * REPEATS / len(keys)
        known, new = keys[~is_new], rng.permutation(keys[is_new])
        for name in options.stores:
            store, folder = STORES[name], options.folder / name
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            table = store(folder)
            parts = range(0, len(known), AT_ONCE)
            build = sum([seconds(table.add, known[at : at + AT_ONCE]) for at in parts])
            finding, adding = [], []
            for part in np.array_split(new, REPEATS):
                both = np.concatenate([part[: PART // 2], rng.choice(known, PART // 2)])
                both.sort()
                finding.append(seconds(table.find, both) / len(both))
                adding.append(seconds(table.add, np.sort(part)) / len(part))
            size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e9
            each = (build / len(known), np.median(finding), np.median(adding))
            figures = (f"{1e6 * one:.2f}" for one in each)
            print(name, len(known), *figures, f"{size:.2f}", sep=",", flush=True)
            del table
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
