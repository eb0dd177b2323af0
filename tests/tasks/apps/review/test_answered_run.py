"""The folder of a bulk run as distinct titles, whatever the parts and buckets."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queues import abstention, answer, write_run

from models.text.titles import normalize_title
from tasks.apps.bulk.single_file import write_tables
from tasks.apps.review.answered_run import TITLES, AnsweredRun, bucket_titles
from tasks.io.bulk_output import manifest_of
from tasks.io.hashes import sha256


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


@pytest.mark.parametrize("kind", ["parquet", "csv", "xlsx"])
def test_a_single_file_is_read_as_the_folder_is(tmp_path: Path, kind: str) -> None:
    """A score that is null, and titles that are guarded in CSV."""
    rows = [("=nurse;-", answer()), ("Nurse", answer(score=None)), (None, abstention("null"))]
    folder = AnsweredRun.find(write_run(tmp_path / "run", [rows], "=to_"))
    path = tmp_path / f"out.{kind}"
    table = pq.read_table(folder.parts[0])
    write_tables(table.schema, [table], path)
    manifest = json.loads((tmp_path / "run/manifest.json").read_text())
    manifest["parts"] = [{"name": path.name, "rows": 3, "sha256": sha256(path)}]
    manifest_of(path).write_text(json.dumps(manifest))
    run = AnsweredRun.find(path)
    assert run.parts == (path,)
    frames = [titles_of(one, tmp_path / name, 2) for one, name in ((run, "a"), (folder, "b"))]
    assert frames[0].sort("raw_title").equals(frames[1].sort("raw_title"))
    path.write_bytes(path.read_bytes() + b"1")
    with pytest.raises(ValueError, match="has changed since `rolecall normalize` wrote it"):
        AnsweredRun.find(path)


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no .*manifest\.json: name a file or folder"):
        AnsweredRun.find(tmp_path)
