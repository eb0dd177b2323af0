"""Strings and pairs from files, who shares an occupation, and the order in which steps read."""

from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from shapes import check_fields, checked
from training_checks import CPU

from models.training.batches import (
    Pairs,
    Shuffled,
    Strings,
    TitleBatches,
    known_negatives,
    read_pairs,
    read_strings,
)

SIZES = st.tuples(st.integers(1, 30), st.integers(1, 40), st.integers(0, 99))


@pytest.mark.thorough
@given(st.lists(st.sets(st.integers(0, 4), max_size=3), min_size=1, max_size=6))
def test_known_negatives_equal_the_sets(codes: list[set[int]]) -> None:
    """Strings of known occupations without a common one; an unknown one is a negative of none."""
    most = max(1, *map(len, codes))
    padded = torch.tensor([sorted(c) + [-1] * (most - len(c)) for c in codes])
    negative_mask = checked(known_negatives)(padded)
    assert negative_mask.tolist() == [[bool(a and b and not a & b) for b in codes] for a in codes]


def write_strings(
    path: Path, ids: list[int], occupations: list[list[str]], roles: list[str]
) -> Path:
    columns = {
        "string_id": pa.array(ids, pa.uint32()),
        "title": [f"t{i}" for i in ids],
        "occupation_ids": pa.array(occupations, pa.large_list(pa.large_string())),
        "role": pa.array(roles, pa.large_string()),
    }
    pq.write_table(pa.table(columns), path)
    return path


def test_read_strings(tmp_path: Path) -> None:
    """Codes are positions in the sorted ids a, b, c, d; a judged string may have none."""
    roles = ["alias", "alias", "auxiliary_taxonomy", "noisy_auxiliary", "typo", "feedback", "valid"]
    owned = [["b"], ["a", "c"], ["d"], ["d"], ["c"], [], ["a"]]
    strings = read_strings(write_strings(tmp_path / "s", [*range(7)], owned, roles))
    check_fields(strings)
    assert strings.titles == ["t0", "t1", "t2", "t3", "t4", "t5", "t6"]
    codes = [[1, -1], [0, 2], [3, -1], [3, -1], [2, -1], [-1, -1], [0, -1]]
    assert strings.occupations.tolist() == codes
    assert strings.aliases.tolist() == [0, 1]
    assert strings.auxiliary.tolist() == [2, 3]
    assert strings.valid.tolist() == [6]
    assert strings.occupation_count == 4


@pytest.mark.parametrize(
    ("ids", "occupations", "message"),
    [
        ([1, 2], [["a"], ["a"]], "count 0, 1, 2"),
        ([0, 1], [["a"], []], "an alias without an occupation"),
        ([], [], "no strings"),
    ],
)
def test_strings_that_cannot_be_trained_on(tmp_path, ids, occupations, message) -> None:
    with pytest.raises(ValueError, match=message):
        read_strings(write_strings(tmp_path / "s", ids, occupations, ["alias"] * len(ids)))


def write_pairs(path: Path, similar: list[bool], source: str = "base") -> Path:
    ids = pa.array(range(len(similar)), pa.uint32())
    sources = pa.array([source] * len(similar)).dictionary_encode()
    columns = {"anchor_id": ids, "other_id": ids, "similar": similar, "source": sources}
    pq.write_table(pa.table(columns), path)
    return path


def test_read_pairs(tmp_path: Path) -> None:
    """Rejected pairs are always read, other dissimilar ones if they are asked for."""
    path = write_pairs(tmp_path / "p", [True, False, True, False])
    pairs = read_pairs(path, with_dissimilar=True)
    check_fields(pairs)
    assert pairs.similar.tolist() == [[0, 0], [2, 2]]
    assert pairs.dissimilar.tolist() == [[1, 1], [3, 3]]
    assert read_pairs(path, with_dissimilar=False).dissimilar.shape == (0, 2)
    path = write_pairs(tmp_path / "p", [True, False], "feedback")
    pairs = read_pairs(path, with_dissimilar=False)
    assert pairs.dissimilar.tolist() == [[1, 1]]
    assert pairs.judged.tolist() == [True]


def test_pairs_without_what_is_needed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no similar pair"):
        read_pairs(write_pairs(tmp_path / "p", [False]), with_dissimilar=False)
    path = write_pairs(tmp_path / "p", [True])
    assert len(read_pairs(path, with_dissimilar=False).similar) == 1
    with pytest.raises(ValueError, match=r"no dissimilar pair; set loss\.negatives"):
        read_pairs(path, with_dissimilar=True)


@given(SIZES, st.lists(st.integers(0, 50), max_size=8))
def test_an_epoch_reads_a_row_at_most_once_and_skips_less_than_a_batch(sizes, steps) -> None:
    """Any step can be had without those before."""
    count, batch, _ = sizes
    rows, jumping = Shuffled(*sizes, CPU), Shuffled(*sizes, CPU)
    of_epoch = count // min(batch, count)
    for epoch in range(3):
        read = torch.cat([rows(epoch * of_epoch + i) for i in range(of_epoch)]).tolist()
        assert len(set(read)) == len(read) > count - min(batch, count)
        assert set(read) <= set(range(count))
    expected = [rows(step).tolist() for step in range(51)]
    assert [jumping(step).tolist() for step in steps] == [expected[step] for step in steps]


def test_every_epoch_and_seed_has_its_own_order() -> None:
    rows, reseeded = Shuffled(50, 50, 1, CPU), Shuffled(50, 50, 2, CPU)
    orders = [rows(0).tolist(), rows(1).tolist(), reseeded(0).tolist(), list(range(50))]
    assert len({tuple(order) for order in orders}) == 4


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
