"""Feedback files: columns by name or by map, three formats, and what is repaired."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest
from frames_of import aliases_of

from tasks.io.frames import check
from tasks.io.schemas import FEEDBACK, FEEDBACK_ROWS
from tasks.pipeline.feedback.params import FeedbackParams
from tasks.pipeline.feedback.reader import files, read_feedback
from tasks.pipeline.feedback.reviews import reviews
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import IngestError

ALIASES = aliases_of(
    [
        ("cook", "Cook", True, "train"),
        ("cook", "CHEF  de partie", False, "train"),
        ("cook", "Grill cook", False, "heldout_alias"),
        ("nurse", "Nurse", True, "train"),
    ]
)
HEADER = ",".join(FEEDBACK)


def params_for(folder: Path, **columns: str) -> FeedbackParams:
    values = {"reader": "table", "from_labels": False, "max_rejected_share": 0.0, "gate_share": 0.0}
    return FeedbackParams(folder=str(folder), columns=columns, **values)


def read(path: Path, **columns: str) -> tuple[pl.DataFrame, dict[str, int], RejectedRows]:
    rejected = RejectedRows()
    rows, repairs = read_feedback(params_for(path.parent, **columns), ALIASES, rejected)
    check(rows, FEEDBACK_ROWS, "feedback")
    assert not rows["from_labels"].any()
    return rows.drop("chosen_by", "served", "from_labels"), repairs, rejected


def csv_of(folder: Path, *lines: str, header: str = HEADER) -> Path:
    path = folder / "f.csv"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def test_how_the_queue_chose_a_title_comes_back(tmp_path: Path) -> None:
    """From a spreadsheet that also has the queue's other columns, and from a file without any."""
    header = f"{HEADER},occupation_label,chosen_by"
    row = "RN,cook,cook,v7,incorrect,nurse,ann,2026-03-01"
    lines = [f"{row},Cook,{word}" for word in ("random", " Random", "coverage", "")]
    csv_of(tmp_path, *lines, header=header)
    (tmp_path / "g.csv").write_text(f"{HEADER}\n{row}\n", encoding="utf-8")
    rows, _ = read_feedback(params_for(tmp_path), ALIASES, RejectedRows())
    chosen_by = ["random", "random", "coverage", None, None]
    assert rows["chosen_by"].to_list() == chosen_by
    assert sorted(reviews(rows)["chosen_by"].to_list(), key=str) == sorted(chosen_by, key=str)


def test_how_the_run_served_a_title_comes_back(tmp_path: Path) -> None:
    """An older file does not say; nobody was answered with a prediction that is not there."""
    header, row = f"{HEADER},served", "cook,v7,correct,,ann,2026-03-01"
    lines = [f"RN,cook,{row},{word}" for word in ("answered", " Abstained", "", "yes")]
    none = [f"RN,,,v7,incorrect,cook,,,{word}" for word in ("answered", "abstained")]
    csv_of(tmp_path, *lines, *none, header=header)
    (tmp_path / "g.csv").write_text(f"{HEADER}\nRN,cook,{row}\n", encoding="utf-8")
    rows, _ = read_feedback(params_for(tmp_path), ALIASES, RejectedRows())
    served = ["answered", "abstained", None, None, None, "abstained", None]
    assert rows["served"].to_list() == served
    reviewed = reviews(rows)
    assert sorted(reviewed["served"].to_list(), key=str) == sorted(served, key=str)
    assert set(reviewed["model_version"]) == {"v7"}


def test_rows_by_hand(tmp_path: Path) -> None:
    path = csv_of(
        tmp_path,
        '" Chef, (urgent!)",cook,chef DE partie,v7,Right,cook,ann,2026-03-01',
        "RN,cook,cook,, INCORRECT ,nurse,,2026-03-01T10:30:00+02:00",
    )
    rows, repairs, rejected = read(path)
    assert rows.rows() == [
        (
            *(" Chef, (urgent!)", "cook", "chef de partie", "v7", "correct", None, "ann"),
            "2026-03-01T00:00:00.000000",
        ),
        ("RN", "cook", "cook", None, "incorrect", "nurse", None, "2026-03-01T08:30:00.000000"),
    ]
    assert rejected.refused == []
    assert rejected.rows == {"f.csv": 2}
    assert set(repairs.values()) == {0}


def test_optional_columns_may_be_absent_and_others_are_not_read(tmp_path: Path) -> None:
    header = "when,verdict,text,predicted_occupation_id,matched_title,mood"
    path = csv_of(tmp_path, "2026-01-01,correct,chef,cook,cook,good", header=header)
    rows, *_ = read(path, raw_title="text")
    assert rows.rows() == [("chef", "cook", "cook", None, "correct", None, None, None)]
    rows, *_ = read(path, raw_title="text", judged_at="when")
    assert rows["judged_at"].to_list() == ["2026-01-01T00:00:00.000000"]


def test_a_missing_file_or_column_is_explained(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match=r"has no column \['verdict'\]"):
        read(csv_of(tmp_path, header="raw_title,predicted_occupation_id,matched_title"))
    with pytest.raises(IngestError, match=r"feedback\.columns: missing \[\], unknown \['title'\]"):
        read(csv_of(tmp_path), title="x")
    for name in ("empty.csv", "broken.parquet"):
        csv_of(tmp_path)
        (tmp_path / name).touch()
        with pytest.raises(IngestError, match=rf"{name}.*feedback\.folder"):
            read(tmp_path / name)
        (tmp_path / name).unlink()


def test_files_that_must_not_be_opened_are_named_and_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipe never ends, and a link out of the folder would put any file among the refused rows."""
    folder = tmp_path / "feedback"
    folder.mkdir()
    (folder / "a.csv").symlink_to(csv_of(tmp_path))
    os.mkfifo(folder / "b.csv")
    good = csv_of(folder)
    assert files(folder) == [good]
    assert capsys.readouterr().out.splitlines() == [
        f"warning: {folder}/a.csv is a link that leads out of {folder}: not read",
        f"warning: {folder}/b.csv is a pipe: not read",
    ]
