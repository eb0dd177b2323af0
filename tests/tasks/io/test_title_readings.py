"""The two readings of a column of titles."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.text.titles import clean_title, normalize_title
from tasks.io.schemas import READINGS
from tasks.io.title_readings import cleaned, normalized, with_readings


@pytest.mark.thorough
@given(st.lists(st.text(max_size=8), max_size=4))
def test_both_readings_title_by_title(titles: list[str]) -> None:
    frame = with_readings(pl.DataFrame({"raw_title": titles}, schema={"raw_title": pl.String}))
    assert frame.schema == {"raw_title": pl.String, **READINGS}
    assert frame.rows() == [(raw, clean_title(raw), normalize_title(raw)) for raw in titles]
    assert normalized(frame["cleaned"]).equals(frame["normalized"])
    assert cleaned(frame["cleaned"]).equals(frame["cleaned"])


def test_the_column_is_named_and_readings_of_another_are_replaced() -> None:
    frame = pl.DataFrame({"title": ["Cook!"], "cleaned": ["nurse"], "size": [1]})
    assert with_readings(frame, "title").rows() == [("Cook!", "cook!", 1, "cook")]
    with pytest.raises(pl.exceptions.ColumnNotFoundError):
        with_readings(frame)
