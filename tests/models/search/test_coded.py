"""Columns of numbers beside the lists that they stand for."""

from __future__ import annotations

import numpy as np

from models.search.coded import Coded
from models.text.texts import Texts


def test_a_coded_column_is_the_sequence_that_it_was_made_of() -> None:
    values = ["b", "a", "b", "ß"]
    column = Coded.of(values)
    assert column.names == ["a", "b", "ß"] and column.codes.tolist() == [1, 0, 1, 2]
    assert [*column] == values and column[1:3] == ["a", "b"] and len(column) == 4
    assert Coded.of(column) is column
    assert [*Coded(Texts.of(["x", "y"]), np.array([1, 1, 0]))] == ["y", "y", "x"]
