"""Several runs as one: rows add up, the newest answer counts, whatever the buckets."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queues import answer, write_run

from models.text.titles import normalize_title
from tasks.apps.review import merged_runs
from tasks.apps.review.answered_run import AnsweredRun
from tasks.apps.review.merged_runs import MERGED, answered_runs, merged_titles

NURSE, COOK, KEEPER = (answer(occupation_id=name) for name in ("nurse", "cook", "keeper"))


def runs_of(folder: Path, *weeks: list[tuple[str | None, dict[str, object]]]) -> list[AnsweredRun]:
    """Runs whose columns of answers have different names."""
    places = [write_run(folder / f"{k}", [rows], f"{k}_") for k, rows in enumerate(weeks)]
    return answered_runs(places)


def merged(runs: list[AnsweredRun], place: Path, other: AnsweredRun | None = None) -> pl.DataFrame:
    return pl.concat([*merged_titles(runs, other, place)])


@pytest.mark.parametrize("bucket_rows", [100, 2])
def test_rows_add_up_and_the_newest_answer_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bucket_rows: int
) -> None:
    """`Nurse!` of the last run stands for `nurse`, which has more rows in the first."""
    monkeypatch.setattr(merged_runs, "BUCKET_ROWS", bucket_rows)
    first, last = [("nurse", COOK)] * 3 + [("old", COOK)], [("Nurse!", NURSE), ("new", NURSE)]
    frame = merged(runs_of(tmp_path, first, last), tmp_path / "titles").sort("normalized")
    assert dict(frame.schema) == dict(MERGED)
    names = ("normalized", "raw_title", "rows", "newest_rows", "occupation_id")
    assert frame.select(names).rows() == [
        ("new", "new", 1, 1, "nurse"),
        ("nurse", "Nurse!", 4, 1, "nurse"),
        ("old", "old", 1, 0, "cook"),
    ]
    assert frame["earlier_occupation_id"].null_count() == 3


def test_the_order_of_the_runs_says_which_is_the_newest(tmp_path: Path) -> None:
    runs = runs_of(tmp_path, [("nurse", COOK)], [("nurse", NURSE)])
    there, back = (
        merged(some, tmp_path / name).row(0, named=True)
        for some, name in ((runs, "there"), (runs[::-1], "back"))
    )
    assert (there["occupation_id"], back["occupation_id"]) == ("nurse", "cook")


def test_another_models_answers_stand_beside_every_run(tmp_path: Path) -> None:
    """They add no rows and no titles."""
    other = AnsweredRun.find(
        write_run(tmp_path / "other", [[("NURSE", KEEPER), ("old", COOK), ("only here", COOK)]])
    )
    runs = runs_of(tmp_path, [("old", NURSE)], [("nurse", NURSE)])
    frame = merged(runs, tmp_path / "titles", other).sort("normalized")
    assert frame.select("normalized", "rows", "earlier_occupation_id").rows() == [
        ("nurse", 1, "keeper"),
        ("old", 1, "cook"),
    ]


def test_one_progress_counts_the_rows_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = list[int]()
    monkeypatch.setattr(merged_runs, "Progress", lambda _, total, __: counted.append)
    runs = runs_of(tmp_path, [("a", COOK)] * 3, [], [("b", COOK)] * 2)
    merged(runs, tmp_path / "titles", runs[0])
    assert counted == [3, 5, 8]


def test_a_run_that_is_named_twice_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By another way to it, too; also refused is a place without a finished run."""
    monkeypatch.chdir(tmp_path)
    runs_of(tmp_path, [("a", COOK)], [("b", COOK)])
    with pytest.raises(ValueError, match="0 is named twice"):
        answered_runs([Path("0"), Path("1"), tmp_path / "0"])
    with pytest.raises(ValueError, match="name a file or folder that `rolecall normalize` has"):
        answered_runs([Path("0"), Path("none")])


@pytest.mark.thorough
@given(
    st.lists(st.lists(st.sampled_from(["a", "A", "b", "B!", "c d", None])), min_size=1, max_size=4),
    st.integers(1, 20),
)
@settings(deadline=None, max_examples=30)
def test_no_row_is_lost_or_counted_twice(weeks: list[list[str | None]], bucket_rows: int) -> None:
    counts = [
        Counter(normalize_title(title) for title in week if title is not None) for week in weeks
    ]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(merged_runs, "BUCKET_ROWS", bucket_rows)
        answered = [[(title, dict(NURSE)) for title in week] for week in weeks]
        frame = merged(runs_of(Path(folder), *answered), Path(folder) / "titles")
    assert dict(frame.select("normalized", "rows").iter_rows()) == sum(counts, Counter())
    newest = frame.filter(pl.col("newest_rows") > 0)
    assert dict(newest.select("normalized", "newest_rows").iter_rows()) == counts[-1]
    assert frame["normalized"].is_unique().all()
