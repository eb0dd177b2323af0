"""Several runs as one: rows add up, the newest answer counts, whatever the parts and buckets."""

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
from tasks.apps.review import candidates as module
from tasks.apps.review.candidates import MERGED, AnsweredRun, answered_runs, merged_titles
from tasks.io.bulk_output import manifest_of
from tasks.io.files import sha256

NURSE, COOK, KEEPER = (answer(occupation_id=name) for name in ("nurse", "cook", "keeper"))
TITLES = ["a", "A", "b", "B!", "c d", "", None]
Week = list[tuple[str | None, dict[str, object]]]


def runs_of(folder: Path, *weeks: Week) -> list[AnsweredRun]:
    """Runs whose columns of answers have different names, in parts of two rows."""
    places = []
    for number, week in enumerate(weeks):
        parts = [week[start : start + 2] for start in range(0, len(week), 2)]
        places.append(write_run(folder / f"{number}", parts, f"{number}_"))
    return answered_runs(places)


def merged(runs: list[AnsweredRun], place: Path, other: AnsweredRun | None = None) -> pl.DataFrame:
    return pl.concat([*merged_titles(runs, other, place)]).sort("normalized")


def test_the_most_frequent_way_to_write_a_title_stands_for_all(tmp_path: Path) -> None:
    """`Nurse!` has four rows, `nurse` three; nulls are no titles."""
    week: Week = [("Nurse!", NURSE), ("nurse", COOK)] * 3
    week += [("Nurse!", NURSE), (None, abstention("null"))]
    (run,) = runs_of(tmp_path, week)
    assert (run.column, run.prefix, run.rows) == ("Titel", "0_", 8)
    assert run.model == "models:/rolecall/1"
    (row,) = merged([run], tmp_path / "titles").drop("hash", "earlier_occupation_id").to_dicts()
    named = {"normalized": "nurse", "raw_title": "Nurse!", "rows": 7, "newest_rows": 7}
    assert row == named | NURSE


@pytest.mark.parametrize("bucket_rows", [100, 2])
def test_rows_add_up_and_the_newest_answer_counts(tmp_path, monkeypatch, bucket_rows: int) -> None:
    """`Nurse!` of the last run stands for `nurse`, which has more rows in the first."""
    monkeypatch.setattr(module, "BUCKET_ROWS", bucket_rows)
    first: Week = [("nurse", COOK)] * 3 + [("old", COOK)]
    runs = runs_of(tmp_path, first, [("Nurse!", NURSE), ("new", NURSE)])
    frame = merged(runs, tmp_path / "titles")
    assert dict(frame.schema) == dict(MERGED)
    names = ("normalized", "raw_title", "rows", "newest_rows", "occupation_id")
    assert frame.select(names).rows() == [
        ("new", "new", 1, 1, "nurse"),
        ("nurse", "Nurse!", 4, 1, "nurse"),
        ("old", "old", 1, 0, "cook"),
    ]
    assert frame["earlier_occupation_id"].null_count() == 3
    back = merged(runs[::-1], tmp_path / "back")
    assert back["occupation_id"].to_list() == ["nurse", "cook", "cook"]


def test_another_models_answers_stand_beside_every_run(tmp_path, monkeypatch) -> None:
    """They add no rows and no titles, but are counted as read."""
    counted = list[int]()
    monkeypatch.setattr(module, "Progress", lambda _, total, __: counted.append)
    others: Week = [("NURSE", KEEPER), ("old", COOK), ("only here", COOK)]
    *runs, other = runs_of(tmp_path, [("old", NURSE)], [], [("nurse", NURSE)], others)
    frame = merged(runs, tmp_path / "titles", other)
    assert frame.select("normalized", "rows", "earlier_occupation_id").rows() == [
        ("nurse", 1, "keeper"),
        ("old", 1, "cook"),
    ]
    assert counted == [1, 2, 5]


def test_a_run_that_is_named_twice_is_refused(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By another way to it, too; also refused is a place without a finished run."""
    monkeypatch.chdir(tmp_path)
    runs_of(tmp_path, [("a", COOK)], [("b", COOK)])
    with pytest.raises(ValueError, match="0 is named twice"):
        answered_runs([Path("0"), Path("1"), tmp_path / "0"])
    with pytest.raises(ValueError, match=r"no .*manifest\.json: name a file or folder that"):
        answered_runs([Path("0"), Path("none")])


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
    assert merged([run], tmp_path / "a").equals(merged([folder], tmp_path / "b"))
    path.write_bytes(path.read_bytes() + b"1")
    with pytest.raises(ValueError, match="has changed since `rolecall normalize` wrote it"):
        AnsweredRun.find(path)


@pytest.mark.thorough
@given(st.lists(st.lists(st.sampled_from(TITLES)), min_size=1, max_size=4), st.integers(1, 20))
@settings(deadline=None, max_examples=30)
def test_no_row_is_lost_or_counted_twice(weeks: list[list[str | None]], bucket_rows: int) -> None:
    counts = [Counter(normalize_title(title) for title in w if title is not None) for w in weeks]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BUCKET_ROWS", bucket_rows)
        answered = [[(title, dict(NURSE)) for title in week] for week in weeks]
        frame = merged(runs_of(Path(folder), *answered), Path(folder) / "titles")
    assert dict(frame.select("normalized", "rows").iter_rows()) == sum(counts, Counter())
    newest = frame.filter(pl.col("newest_rows") > 0)
    assert dict(newest.select("normalized", "newest_rows").iter_rows()) == counts[-1]
    assert frame["normalized"].is_unique().all()
