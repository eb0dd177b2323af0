"""Pairs from a file, and the order in which steps read them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from shapes import check_fields

from models.training.batches import Pairs, Shuffled, TitleBatches, read_pairs
from models.training.strings import Strings

CPU = torch.device("cpu")
SIZES = st.tuples(st.integers(1, 30), st.integers(1, 40), st.integers(0, 99))


@given(SIZES)
def test_an_epoch_reads_a_row_at_most_once_and_skips_less_than_a_batch(
    sizes: tuple[int, int, int],
) -> None:
    count, batch, seed = sizes
    rows = Shuffled(count, batch, seed, CPU)
    steps = count // min(batch, count)
    for epoch in range(3):
        read = torch.cat([rows(epoch * steps + i) for i in range(steps)]).tolist()
        assert len(set(read)) == len(read)
        assert set(read) <= set(range(count))
        assert count - len(read) < min(batch, count)


@given(SIZES, st.lists(st.integers(0, 50), max_size=8))
def test_any_step_can_be_had_without_those_before(
    sizes: tuple[int, int, int], steps: list[int]
) -> None:
    in_order = Shuffled(*sizes, CPU)
    expected = [in_order(step).tolist() for step in range(51)]
    jumping = Shuffled(*sizes, CPU)
    assert [jumping(step).tolist() for step in steps] == [expected[step] for step in steps]


def test_every_epoch_and_seed_has_its_own_order() -> None:
    rows, reseeded = Shuffled(50, 50, 1, CPU), Shuffled(50, 50, 2, CPU)
    orders = [rows(0).tolist(), rows(1).tolist(), reseeded(0).tolist(), list(range(50))]
    assert len({tuple(order) for order in orders}) == 4


def write(path: Path, similar: list[bool], source: str = "base") -> Path:
    ids = pa.array(range(len(similar)), pa.uint32())
    sources = pa.array([source] * len(similar)).dictionary_encode()
    columns = {"anchor_id": ids, "other_id": ids, "similar": similar, "source": sources}
    pq.write_table(pa.table(columns), path)
    return path


def test_read(tmp_path: Path) -> None:
    path = write(tmp_path / "p", [True, False, True, False])
    pairs = read_pairs(path, with_dissimilar=True)
    check_fields(pairs)
    assert pairs.similar.tolist() == [[0, 0], [2, 2]]
    assert pairs.dissimilar.tolist() == [[1, 1], [3, 3]]
    assert read_pairs(path, with_dissimilar=False).dissimilar.shape == (0, 2)


def test_rejected_pairs_are_always_read(tmp_path: Path) -> None:
    path = write(tmp_path / "p", [True, False], "feedback")
    pairs = read_pairs(path, with_dissimilar=False)
    assert pairs.dissimilar.tolist() == [[1, 1]]
    assert pairs.judged.tolist() == [True]


def test_files_without_what_is_needed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no similar pair"):
        read_pairs(write(tmp_path / "p", [False]), with_dissimilar=False)
    path = write(tmp_path / "p", [True])
    assert len(read_pairs(path, with_dissimilar=False).similar) == 1
    with pytest.raises(ValueError, match=r"no dissimilar pair; set loss\.negatives"):
        read_pairs(path, with_dissimilar=True)


@pytest.mark.parametrize(("judged", "expected"), [(200, 8), (50, 8), (25, 4)])
def test_verdicts_have_their_share_of_each_batch(judged: int, expected: int) -> None:
    """A third of 24, of few judged strings in proportion; the same whichever step comes first."""
    count = 300
    rows = torch.arange(2 * (count + judged)).reshape(-1, 2).int()
    titles = [str(number) for number in range(rows.numel())]
    occupations = torch.arange(len(rows)).repeat_interleave(2)[:, None]
    nothing = torch.empty(0).long()
    strings = Strings(titles, occupations, nothing, nothing)
    pairs = Pairs(rows, rows[:0], torch.arange(len(rows)) >= count)
    make = partial(TitleBatches, strings, pairs, 24, 1, CPU, reads_dissimilar=False)
    batches = make(judged_share=1 / 3)
    read = []
    for step in range(20):
        ids, batch = batches(step)
        anchors = ids[batch.left]
        assert len(anchors) == 24
        assert (anchors >= 2 * count).sum() == expected
        assert torch.equal(ids[batch.right], anchors + 1)
        read += anchors[anchors < 2 * count].tolist()
    assert len(set(read)) > count / 2  # the others are shuffled, not the same every time
    assert torch.equal(make(judged_share=1 / 3)(7)[0], batches(7)[0])
