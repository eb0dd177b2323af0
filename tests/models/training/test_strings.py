"""The strings table as tensors, and who shares an occupation."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from shapes import check_fields, checked

from models.network.featurized_strings import FeaturizedStrings
from models.text.featurizer import Featurizer
from models.text.units import UnitSettings
from models.training.strings import known_negatives, read_strings

CPU = torch.device("cpu")


def padded(codes: list[set[int]]) -> torch.Tensor:
    most = max(1, *map(len, codes))
    return torch.tensor([sorted(c) + [-1] * (most - len(c)) for c in codes])


@pytest.mark.thorough
@given(st.lists(st.sets(st.integers(0, 4), max_size=3), min_size=1, max_size=6))
def test_known_negatives_equal_the_sets(codes: list[set[int]]) -> None:
    """Strings of known occupations without a common one; an unknown one is a negative of none."""
    negative_mask = checked(known_negatives)(padded(codes))
    assert negative_mask.tolist() == [[bool(a and b and not a & b) for b in codes] for a in codes]


def write(path: Path, ids: list[int], occupations: list[list[str]], roles: list[str]) -> Path:
    columns = {
        "string_id": pa.array(ids, pa.uint32()),
        "title": [f"t{i}" for i in ids],
        "occupation_ids": pa.array(occupations, pa.large_list(pa.large_string())),
        "role": pa.array(roles, pa.large_string()),
    }
    pq.write_table(pa.table(columns), path)
    return path


def test_read(tmp_path: Path) -> None:
    """Codes are places in the sorted occupation ids a, b, c, d."""
    roles = ["alias", "alias", "auxiliary_taxonomy", "noisy_auxiliary", "typo", "valid"]
    owned = [["b"], ["a", "c"], ["d"], ["d"], ["c"], ["a"]]
    path = write(tmp_path / "s", [*range(6)], owned, roles)
    strings = read_strings(path)
    check_fields(strings)
    assert strings.titles == ["t0", "t1", "t2", "t3", "t4", "t5"]
    assert strings.occupations.tolist() == [[1, -1], [0, 2], [3, -1], [3, -1], [2, -1], [0, -1]]
    assert strings.aliases.tolist() == [0, 1]
    assert strings.auxiliary.tolist() == [2, 3]
    assert strings.valid.tolist() == [5]
    assert strings.occupation_count == 4


def test_a_judged_string_may_be_of_unknown_occupation(tmp_path: Path) -> None:
    """It has no code; an alias without one is refused (below)."""
    path = write(tmp_path / "s", [0, 1, 2], [["a"], [], ["a"]], ["alias", "feedback", "valid"])
    strings = read_strings(path)
    check_fields(strings)
    assert strings.occupations.tolist() == [[0], [-1], [0]]
    assert (strings.aliases.tolist(), strings.valid.tolist()) == ([0], [2])


@pytest.mark.parametrize(
    ("ids", "occupations", "message"),
    [
        ([1, 2], [["a"], ["a"]], "count 0, 1, 2"),
        ([0, 1], [["a"], []], "an alias without an occupation"),
        ([], [], "no strings"),
    ],
)
def test_what_cannot_be_trained_on(
    tmp_path: Path, ids: list[int], occupations: list[list[str]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        read_strings(write(tmp_path / "s", ids, occupations, ["alias"] * len(ids)))


def test_batches_are_cut_to_their_longest() -> None:
    """Each stream to its own: characters (at most 4 are read) and words."""
    titles = ["a", "abc", "abcde", ""]
    featurizer = Featurizer.fit(titles, [UnitSettings("character", 4), UnitSettings("word", 4)])
    strings = FeaturizedStrings.of(titles, featurizer, CPU)
    for stream in strings.streams:
        check_fields(stream)
        assert stream.flat.dtype == torch.uint8
    ids, lengths, words, counts = strings.batch(torch.tensor([1, 0]))
    assert ids.tolist() == [[2, 3, 4], [2, 0, 0]]
    assert ids.dtype == torch.int64
    assert lengths.tolist() == [3, 1]
    assert words.tolist() == [[3], [2]]
    assert counts.tolist() == [1, 1]
    assert strings.lengths.tolist() == [1, 3, 4, 1]
    assert [split.shape for split in strings.batch(torch.tensor([], dtype=torch.long))[:2]] == [
        (0, 1),
        (0,),
    ]


def test_an_alphabet_past_one_byte_keeps_its_ids() -> None:
    letters = "".join(chr(0x4E00 + i) for i in range(300))
    featurizer = Featurizer.fit([letters], [UnitSettings("character", 400)])
    stream = FeaturizedStrings.of([letters], featurizer, CPU).streams[0]
    assert stream.flat.dtype == torch.int32
    assert stream.flat.tolist() == list(range(2, 302))
