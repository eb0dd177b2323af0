"""The folder of a bulk run as distinct titles, whatever the parts and buckets."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queues import abstention, answer, write_run

from models.text.titles import normalize_title
from tasks.apps.review.answered_run import TITLES, AnsweredRun, bucket_titles


def titles_of(run: AnsweredRun, place: Path, buckets: int) -> pl.DataFrame:
    run.write_buckets(place, buckets, lambda rows: None)
    return pl.concat([bucket_titles(place, bucket) for bucket in range(buckets)])


def test_the_most_frequent_way_to_write_a_title_stands_for_all(tmp_path: Path) -> None:
    """`Nurse!` has two rows in each part, `nurse` three in one: four against three."""
    cook = answer(occupation_id="cook")
    parts = [
        [("Nurse!", answer()), ("Nurse!", answer()), ("nurse", cook), ("nurse", cook)],
        [("Nurse!", answer()), ("Nurse!", answer()), ("nurse", cook), (None, abstention("null"))],
    ]
    run = AnsweredRun.find(write_run(tmp_path / "run", parts, "found_"))
    assert (run.column, run.prefix, run.model, run.rows) == (
        "Titel",
        "found_",
        "models:/rolecall/1",
        8,
    )
    frame = titles_of(run, tmp_path / "titles", 1)
    assert dict(frame.schema) == dict(TITLES)
    (row,) = frame.drop("hash").to_dicts()
    assert row == {"normalized": "nurse", "raw_title": "Nurse!", "rows": 7, **answer()}


@pytest.mark.thorough
@given(
    st.lists(st.lists(st.sampled_from(["a", "A", "b", "B!", "c d", "", None])), max_size=4),
    st.integers(1, 5),
)
@settings(deadline=None, max_examples=30)
def test_no_row_is_lost_or_counted_twice(parts: list[list[str | None]], buckets: int) -> None:
    expected = Counter(
        normalize_title(title) for split in parts for title in split if title is not None
    )
    with TemporaryDirectory() as folder:
        rows = [[(title, answer()) for title in split] for split in parts]
        run = AnsweredRun.find(write_run(Path(folder) / "run", rows))
        frame = titles_of(run, Path(folder) / "titles", buckets)
    assert dict(frame.select("normalized", "rows").iter_rows()) == expected
    assert frame["normalized"].is_unique().all()


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no manifest\.json: name a folder"):
        AnsweredRun.find(tmp_path)
