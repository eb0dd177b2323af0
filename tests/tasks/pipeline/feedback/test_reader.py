"""Feedback files: columns by name or by map, bad rows between good ones, and repairs."""

import os
from pathlib import Path

import pytest
from feedback_tables import GOOD, HEADER, KNOWN, read_folder, read_rows

from tasks.pipeline.feedback.dates import BAD_DATE, DOUBTFUL_DATE
from tasks.pipeline.feedback.occupation_ids import REWRITTEN_ID
from tasks.pipeline.feedback.reader import (
    BAD_VERDICT,
    CORRECT_YET_CORRECTED,
    INCORRECT_YET_CONFIRMED,
    NO_PREDICTION,
    NO_TITLE_YET_CORRECTED,
    files,
)
from tasks.tables.rejected import (
    BAD_CHARACTERS,
    BAD_QUOTES,
    BAD_WIDTH,
    EMPTY_ROW,
    NOT_ANSWERED,
    NOTICES,
    UNKNOWN_OCCUPATION,
)
from tasks.tables.source_files import IngestError


def test_rows_by_hand(tmp_path: Path) -> None:
    """Times are UTC; titles lose nothing, matched titles are cleaned."""
    read = read_rows(
        tmp_path,
        '" Chef, (urgent!)",cook,CHEF,v7,Right,cook,ann,2026-03-01',
        "RN,cook,cook,, INCORRECT ,nurse,,2026-03-01T10:30:00+02:00",
    )
    chef = (" Chef, (urgent!)", "chef urgent", "cook", "chef", "correct", "cook", "ann")
    nurse = ("RN", "rn", "cook", "cook", "incorrect", "nurse", "")
    assert read.frame.drop("chosen_by", "served", "from_labels").rows() == [
        (*chef, "2026-03-01T00:00:00.000000", "v7"),
        (*nurse, "2026-03-01T08:30:00.000000", None),
    ]
    assert read.values("chosen_by", "served") == [(None, None)] * 2
    assert (read.refused, read.repairs, read.rejected.rows) == ([], {}, {"f.csv": 2})


def test_optional_columns_may_be_absent_and_others_are_not_read(tmp_path: Path) -> None:
    header = "when,verdict,text,predicted_occupation_id,matched_title,mood"
    line = "2026-01-01,correct,chef,cook,cook,good"
    read = read_rows(tmp_path, line, header=header, raw_title="text")
    columns = (*KNOWN, "judged_at", "reviewer_id")
    assert read.values(*columns) == [("chef", "cook", "cook", "correct", None, "")]
    read = read_rows(tmp_path, line, header=header, raw_title="text", judged_at="when")
    assert read.values("judged_at") == [("2026-01-01T00:00:00.000000",)]


def test_the_words_of_a_queue_come_back(tmp_path: Path) -> None:
    """How it chose a title, and how its run served it; its other columns are not read.

    An older file does not say; nobody was answered with a prediction that is not there.
    """
    header = f"{HEADER},occupation_label,chosen_by,served"
    row = "RN,cook,cook,v7,correct,,ann,,Cook"
    words = ("random,answered", " Random, Abstained", "coverage,", ",yes")
    none = [f"RN,,,v7,incorrect,cook,,,,,{word}" for word in ("answered", "abstained")]
    (tmp_path / "g.csv").write_text(f"{HEADER}\n{GOOD}\n", encoding="utf-8")
    read = read_rows(tmp_path, *(f"{row},{word}" for word in words), *none, header=header)
    assert read.values("chosen_by", "served", "model_version") == [
        ("random", "answered", "v7"),
        ("random", "abstained", "v7"),
        ("coverage", None, "v7"),
        (None, None, "v7"),
        (None, None, "v7"),
        (None, "abstained", "v7"),
        (None, None, "v1"),
    ]


REFUSED = {
    "too few columns": ("x,cook,cook,,correct", BAD_WIDTH),
    "too many columns": ("x,cook,cook,,correct,,,,and more", BAD_WIDTH),
    "empty row": (",,,,,,,", EMPTY_ROW),
    "broken quotes": ('x,"cook,cook,,correct,,,', BAD_QUOTES),
    "bytes that are no text": ("x\x00,cook,cook,,correct,,,", BAD_CHARACTERS),
    "no title": (",cook,cook,,correct,,,", "empty raw_title"),
    "signs for a title": (" ?! ,cook,cook,,correct,,,", "empty raw_title"),
    "unknown verdict": ("x,cook,cook,,yes,,,", BAD_VERDICT),
    "not answered": ("x,cook,cook,v1,,,ann,2026-01-01", NOT_ANSWERED),
    "unknown occupation": ("x,pilot,cook,,correct,,,", UNKNOWN_OCCUPATION),
    "unknown occupation, corrected": ("x,pilot,cook,,incorrect,nurse,,", UNKNOWN_OCCUPATION),
    "unknown correction alone": ("x,cook,cook,,,pilot,,", UNKNOWN_OCCUPATION),
    "correct of nothing": ("x,,,,correct,,,", NO_PREDICTION),
    "incorrect of nothing": ("x,,,,incorrect,,,", NO_PREDICTION),
    "correct, yet corrected": ("x,cook,cook,,correct,nurse,,", CORRECT_YET_CORRECTED),
    "correct, yet corrected to nowhere": ("x,cook,cook,,correct,pilot,,", CORRECT_YET_CORRECTED),
    "incorrect, yet confirmed": ("x,cook,cook,,incorrect,cook,,", INCORRECT_YET_CONFIRMED),
    "not a job title, corrected": ("x,cook,cook,,not_a_job_title,nurse,,", NO_TITLE_YET_CORRECTED),
    "id with thousands": ('x,"1,200",,,correct,,,', REWRITTEN_ID),
    "no date": ("x,cook,cook,,correct,,,yesterday", BAD_DATE),
    "day or month": ("x,cook,cook,,correct,,,3/4/2026", DOUBTFUL_DATE),
}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", REFUSED)
def test_a_row_is_refused_with_file_line_reason_and_text(tmp_path: Path, kind: str) -> None:
    line, reason = REFUSED[kind]
    read = read_rows(tmp_path, GOOD, line, GOOD)
    assert read.rejected.refused == [("f.csv", 3, reason, line)]
    assert read.rejected.reasons() == {reason: 1}
    assert read.values("raw_title") == [("fry cook",), ("fry cook",)]
    assert (reason in NOTICES) == (kind in ("empty row", "not answered"))
    assert read.repairs == {}


@pytest.mark.parametrize(
    ("line", "repairs", "row"),
    [
        ("x,cook,chef,,incorrect,pilot,,", ["unknown_correction"], ("cook", "chef", "incorrect")),
        ("x,cook,nurse,,correct,,,", ["matched_title_replaced"], ("cook", "cook", "correct")),
        # it is held out for a test
        ("x,cook,grill cook,,correct,,,", ["matched_title_replaced"], ("cook", "cook", "correct")),
        ("x,,,,incorrect,nurse,,", ["answered_without_prediction"], ("nurse", "nurse", "correct")),
        ("x,,,,not_a_job_title,,,", [], (None, None, "not_a_job_title")),
        ("x,123,smith,,correct,,,", ["leading_zeros_restored"], ("0123", "smith", "correct")),
        ("x,pilot,,,no_job_title,,,", ["unknown_prediction"], (None, None, "not_a_job_title")),
    ],
)
def test_a_row_is_repaired_and_counted(tmp_path, line, repairs, row) -> None:
    read = read_rows(tmp_path, GOOD, line)
    assert (read.refused, read.repairs) == ([], dict.fromkeys(repairs, 1))
    assert read.values(*KNOWN)[1] == ("x", *row)
    assert read.values("occupation_id")[1] == (row[0] if row[2] == "correct" else None,)


def test_a_correction_is_known_in_any_case_and_by_its_label(tmp_path: Path) -> None:
    lines = [f"x,cook,cook,,incorrect,{text},," for text in ("NURSE", "smith", " Smith ")]
    read = read_rows(tmp_path, *lines)
    assert read.values("occupation_id") == [("nurse",), ("0123",), ("0123",)]
    assert (read.refused, read.repairs) == ([], {})


def test_a_correction_that_is_dropped_is_named(tmp_path, capsys) -> None:
    read_rows(tmp_path, GOOD, *[f"x{row},cook,chef,,incorrect,pilot{row},," for row in range(5)])
    warnings = capsys.readouterr().out.splitlines()
    assert len(warnings) == 4
    assert warnings[0] == (
        "warning: f.csv, line 3: the taxonomy has no occupation 'pilot0', so the row counts as "
        "incorrect without a correction"
    )
    assert warnings[3] == "warning: f.csv: and 2 more such rows"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("x,cook,cook,,,nurse,,", ("cook", "incorrect", "nurse")),
        ("x,cook,cook,,,cook,,", ("cook", "correct", "cook")),
        ("x,,,,,nurse,,", ("nurse", "correct", "nurse")),
        ("x,cook,cook,,,123,,", ("cook", "incorrect", "0123")),
        ("x,cook,cook,,,1200.0,,", ("cook", "incorrect", "1200")),
    ],
)
def test_a_correction_alone_is_a_verdict(tmp_path: Path, line: str, said: tuple[str]) -> None:
    read = read_rows(tmp_path, line)
    columns = ("predicted_occupation_id", "verdict", "occupation_id")
    assert (read.values(*columns), read.refused) == ([said], [])
    assert read.repairs["verdict_from_correction"] == 1


@pytest.mark.parametrize(
    ("written", "means"),
    [
        *(("Right", "correct"), (" CORRECT ", "correct"), ("right\xa0", "correct")),
        *(("\tright", "correct"), ("Wrong", "incorrect"), ("incorrect", "incorrect")),
        *(("no job title", "not_a_job_title"), ("No  Job Title", "not_a_job_title")),
        *(("not a job title", "not_a_job_title"), ("NOT_A_JOB_TITLE", "not_a_job_title")),
    ],
)
def test_verdicts_in_any_case_and_in_the_words_of_older_files(tmp_path, written, means) -> None:
    read = read_rows(tmp_path, GOOD.replace("correct", written))
    assert read.values(*KNOWN) == [("fry cook", "cook", "cook", means)]
    assert (read.refused, read.repairs) == ([], {})


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (HEADER.replace("verdict", "opinion"), r"f\.csv has no column \['verdict'\], only \['raw_"),
        (HEADER.replace("model_version", "verdict"), r"has the column \['verdict'\] more than"),
        (HEADER.replace("model_version", "VERDICT").replace(",verdict", ",Verdict"), "more than"),
        ("", r"f\.csv has no column .*, only \['fry cook'"),
    ],
    ids=["absent", "twice", "twice in other cases", "no header"],
)
def test_wrong_columns_end_it_and_say_what_to_do(tmp_path: Path, header: str, message: str) -> None:
    with pytest.raises(IngestError, match=message) as error:
        read_rows(tmp_path, GOOD, header=header)
    assert "correct it or feedback.columns, or take it out of the folder" in str(error.value)


def test_wrong_files_and_names_of_columns_are_explained(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match=r"feedback\.columns: missing \[\], unknown \['title'\]"):
        read_rows(tmp_path, title="x")
    for name in ("empty.csv", "broken.parquet"):
        (tmp_path / name).touch()
        with pytest.raises(IngestError, match=rf"{name}.*feedback\.folder"):
            read_folder(tmp_path)
        (tmp_path / name).unlink()


def test_files_that_must_not_be_opened_are_named_and_left_out(tmp_path, capsys) -> None:
    """A pipe never ends, and a link out of the folder would put any file among the refused rows."""
    folder = tmp_path / "feedback"
    folder.mkdir()
    (tmp_path / "out.csv").touch()
    (folder / "a.csv").symlink_to(tmp_path / "out.csv")
    os.mkfifo(folder / "b.csv")
    good = folder / "f.csv"
    good.touch()
    assert files(folder) == [good]
    assert capsys.readouterr().out.splitlines() == [
        f"warning: {folder}/a.csv is a link that leads out of {folder}: not read",
        f"warning: {folder}/b.csv is a pipe: not read",
    ]
