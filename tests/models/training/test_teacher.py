"""A teacher's folder, and its vectors in their principal directions."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes import check_fields, checked
from teachers import write_teacher

from models.training.teacher import Teacher, principal


def test_read(tmp_path: Path) -> None:
    titles = {"baker": [0.6, 0.8], "nurse": [1.0, 0.0]}
    write_teacher(tmp_path, titles, {"baker": [0.0, 1.0]})
    teacher = Teacher.read(tmp_path)
    assert teacher.titles.texts == ["baker", "nurse"]
    assert teacher.titles.table.equal(torch.tensor([*titles.values()]).half())
    assert teacher.nearest.tolist() == [[0], [1]]
    assert teacher.words.texts == ["baker"]
    check_fields(teacher)
    check_fields(teacher.titles)


@pytest.mark.parametrize("empty", ["titles", "words"])
def test_a_stage_that_had_no_teacher(tmp_path: Path, empty: str) -> None:
    one = {"baker": [1.0, 0.0]}
    write_teacher(tmp_path, *({} if name == empty else one for name in ("titles", "words")))
    with pytest.raises(ValueError, match=rf"{empty}\.parquet is empty: set teacher\.kind"):
        Teacher.read(tmp_path)


def test_principal_by_hand() -> None:
    """Points (3, 1), (-1, 1), (1, 2), (1, 0), their mean (1, 1): ±2 along x, ±1 along y.

    Both directions point where their largest part is positive; a third one there is not.
    """
    table = torch.tensor([[3, 1], [-1, 1], [1, 2], [1, 0]]).half()
    parts = checked(principal)(table, 3)
    expected = [[2, 0, 0], [-2, 0, 0], [0, 1, 0], [0, -1, 0]]
    torch.testing.assert_close(parts, torch.tensor(expected).float())
    torch.testing.assert_close(principal(table, 1), parts[:, :1])


@given(seed=st.integers(0, 99), texts=st.integers(1, 8), dim=st.integers(1, 5))
@settings(max_examples=30)
def test_all_directions_keep_the_distances(seed: int, texts: int, dim: int) -> None:
    """And no direction is wider than the one before."""
    draw = torch.Generator().manual_seed(seed)
    table = torch.randn(texts, dim, generator=draw).half()
    parts = principal(table, dim)
    torch.testing.assert_close(
        torch.cdist(parts.double(), parts.double()),
        torch.cdist(table.double(), table.double()),
        atol=1e-5,
        rtol=1e-5,
    )
    widths = parts.square().sum(0)
    assert (widths.diff() <= 1e-5).all()


@pytest.mark.parametrize("seed", range(8))
def test_the_largest_part_of_a_direction_is_positive(seed: int) -> None:
    """Directions are solved for from what they made of the vectors."""
    table = torch.randn(9, 4, generator=torch.Generator().manual_seed(seed)).half()
    centred = table.double() - table.double().mean(0)
    directions = torch.linalg.lstsq(centred, principal(table, 4).double()).solution
    torch.testing.assert_close(directions.norm(dim=0), torch.ones(4).double(), atol=1e-5, rtol=0)
    assert (directions.gather(0, directions.abs().argmax(0, keepdim=True)) > 0).all()
