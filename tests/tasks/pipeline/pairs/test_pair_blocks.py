"""Blocks of pairs: their layout, their counts, and their way through a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from params_of import pairs_params

from tasks.io.mixes import PAIR_SOURCES
from tasks.pipeline.pairs.pair_blocks import (
    PAIRS,
    block,
    block_size,
    count,
    read_blocks,
    write_blocks,
)
from tasks.pipeline.pairs.string_occupations import StringOccupations

OWNED = [["a"], ["a", "b"], ["b"], ["c"], ["c"]]
MEMBERS = StringOccupations(np.arange(len(OWNED)), pl.Series(OWNED))
Ids = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=6)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def ids(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    array = np.array(pairs, np.int64).reshape(-1, 2)
    return array[:, 0], array[:, 1]


def rows_of(table: pa.Table) -> list[tuple[int, int, bool, str]]:
    return [tuple(row.values()) for row in table.to_pylist()]


@given(Ids, Ids, st.lists(st.integers(0, 4), max_size=9), st.sampled_from(PAIR_SOURCES))
@settings(max_examples=60)
def test_similar_then_rejected_then_strangers(
    similar: list[tuple[int, int]], rejected: list[tuple[int, int]], to: list[int], source: str
) -> None:
    """The pairs stand as given; strangers share no occupation, and are of source base."""
    made = block(ids(similar), np.array(to, np.int64), source, MEMBERS, rng(), ids(rejected))
    assert made.schema == PAIRS
    rows = rows_of(made)
    own = len(similar) + len(rejected)
    assert rows[:own] == [(*p, True, source) for p in similar] + [
        (*p, False, source) for p in rejected
    ]
    assert [anchor for anchor, *_ in rows[own:]] == to
    for anchor, other, alike, named in rows[own:]:
        assert not set(OWNED[anchor]) & set(OWNED[other])
        assert (alike, named) == (False, "base")
    expected = Counter((named, alike) for *_, alike, named in rows)
    assert count(made) == expected


def test_pairs_are_counted_by_name_not_by_code() -> None:
    """Another writer's dictionary may hold the same names in another order."""
    made = block(ids([(0, 1)]), np.array([0, 3]), "typo", MEMBERS, rng())
    turned = made["source"].combine_chunks().cast(pa.string())
    turned = pa.DictionaryArray.from_arrays(
        pa.array([["extra_words", "typo", "base"].index(s) for s in turned.to_pylist()], pa.int8()),
        pa.array(["extra_words", "typo", "base"]),
    )
    other = made.set_column(3, "source", turned)
    assert count(other) == count(made) == Counter({("typo", True): 1, ("base", False): 2})
    assert count(made.slice(0, 0)) == Counter()


@pytest.mark.parametrize(("apart", "size"), [(4, 204), (0, 1024), (2000, 1)])
def test_block_size(apart: int, size: int) -> None:
    """1024 rows hold 1024 // 5 = 204 similar pairs with four others each; at least one pair."""
    assert block_size(pairs_params(dissimilar_per_similar=apart)) == size


def some_blocks() -> Iterator[pa.Table]:
    yield block(ids([(0, 1), (1, 2)]), np.array([0, 0, 1, 1]), "base", MEMBERS, rng())
    yield block(ids([(3, 7)]), np.array([3]), "feedback", MEMBERS, rng(), ids([(2, 8)]))


def test_written_and_read_again(tmp_path: Path) -> None:
    """A row group a block; what is read is what was written, and equal blocks give equal bytes."""
    rows = write_blocks(some_blocks(), tmp_path / "p")
    assert rows == Counter(
        {
            ("base", True): 2,
            ("base", False): 5,
            ("feedback", True): 1,
            ("feedback", False): 1,
        }
    )
    file = pq.ParquetFile(tmp_path / "p")
    assert [file.metadata.row_group(i).num_rows for i in range(2)] == [6, 3]
    read = list(read_blocks(tmp_path / "p"))
    assert [rows_of(table) for table in read] == [rows_of(table) for table in some_blocks()]
    assert {table.schema for table in read} == {PAIRS}
    assert write_blocks(iter(read), tmp_path / "copy") == rows
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "p").read_bytes()


def test_a_writer_that_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    def stopped() -> Iterator[pa.Table]:
        yield from some_blocks()
        raise InterruptedError

    with pytest.raises(InterruptedError):
        write_blocks(stopped(), tmp_path / "p")
    assert list(tmp_path.iterdir()) == []


def test_without_a_stranger() -> None:
    members = StringOccupations(np.arange(2), pl.Series([["a"], ["a", "b"]]))
    with pytest.raises(ValueError, match=r"no dissimilar pair.*two occupations or more"):
        block(ids([(0, 1)]), np.array([1]), "base", members, rng())
