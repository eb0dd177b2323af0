"""Every kind of bad row between good ones: refused with its line, repaired, or resolved later."""

from __future__ import annotations

from pathlib import Path

import pytest
from feedback_tables import ALIASES, GOOD, HEADER, KNOWN, params_for, read_rows

from tasks.pipeline.feedback.feedback_rows.dates import BAD_DATE, DOUBTFUL_DATE
from tasks.pipeline.feedback.feedback_rows.faults import (
    BAD_VERDICT,
    CORRECT_YET_CORRECTED,
    INCORRECT_YET_CONFIRMED,
    NO_PREDICTION,
    NO_TITLE_YET_CORRECTED,
)
from tasks.pipeline.feedback.feedback_rows.occupation_ids import REWRITTEN_ID
from tasks.pipeline.feedback.stage import Judged, feedback
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

REFUSED = {
    "too few columns": ("x,cook,cook,,correct", BAD_WIDTH),
    "too many columns": ("x,cook,cook,,correct,,,,and more", BAD_WIDTH),
    "empty row": (",,,,,,,", EMPTY_ROW),
    "broken quotes": ('x,"cook,cook,,correct,,,', BAD_QUOTES),
    "bytes that are no text": ("x\x00,cook,cook,,correct,,,", BAD_CHARACTERS),
    "no title": (",cook,cook,,correct,,,", "empty raw_title"),
    "signs for a title": (" ?! ,cook,cook,,correct,,,", "empty raw_title"),
    "unknown verdict": ("x,cook,cook,,yes,,,", BAD_VERDICT),
    "verdict of a formula": ("x,cook,cook,,TRUE,,,", BAD_VERDICT),
    "not answered": ("x,cook,cook,v1,,,ann,2026-01-01", NOT_ANSWERED),
    "unknown occupation": ("x,pilot,cook,,correct,,,", UNKNOWN_OCCUPATION),
    "unknown occupation, corrected": ("x,pilot,cook,,incorrect,nurse,,", UNKNOWN_OCCUPATION),
    "unknown correction alone": ("x,cook,cook,,,pilot,,", UNKNOWN_OCCUPATION),
    "unknown correction of nothing": ("x,,,,incorrect,pilot,,", UNKNOWN_OCCUPATION),
    "right of nothing": ("x,,,,correct,,,", NO_PREDICTION),
    "right of nothing, corrected": ("x,,,,correct,cook,,", NO_PREDICTION),
    "wrong of nothing": ("x,,,,incorrect,,,", NO_PREDICTION),
    "right, yet corrected": ("x,cook,cook,,correct,nurse,,", CORRECT_YET_CORRECTED),
    "correct, yet corrected to nowhere": ("x,cook,cook,,correct,pilot,,", CORRECT_YET_CORRECTED),
    "incorrect, yet confirmed": ("x,cook,cook,,incorrect,cook,,", INCORRECT_YET_CONFIRMED),
    "not a job title, yet corrected": (
        "x,cook,cook,,not_a_job_title,nurse,,",
        NO_TITLE_YET_CORRECTED,
    ),
    "id with thousands": ('x,"1,200",,,correct,,,', REWRITTEN_ID),
    "id in scientific notation": ("x,1.2E+03,,,correct,,,", REWRITTEN_ID),
    "number that no id is": ("x,77,,,correct,,,", UNKNOWN_OCCUPATION),
    "no date": ("x,cook,cook,,correct,,,yesterday", BAD_DATE),
    "no day of the year": ("x,cook,cook,,correct,,,30.2.2026", BAD_DATE),
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


REPAIRS = {
    "unknown_correction": ("x,cook,chef,,incorrect,pilot,,", ("x", "cook", "chef", "incorrect")),
    "matched_title_replaced": ("x,cook,nurse,,correct,,,", ("x", "cook", "cook", "correct")),
    "answered_without_prediction": ("x,,,,incorrect,nurse,,", ("x", "nurse", "nurse", "correct")),
    "leading_zeros_restored": ("x,123,smith,,correct,,,", ("x", "0123", "smith", "correct")),
    "unknown_prediction": ("x,pilot,,,no_job_title,,,", ("x", None, None, "not_a_job_title")),
}


@pytest.mark.parametrize("kind", REPAIRS)
def test_a_row_is_mended_and_counted(tmp_path: Path, kind: str) -> None:
    line, row = REPAIRS[kind]
    read = read_rows(tmp_path, GOOD, line)
    assert (read.refused, read.repairs) == ([], {kind: 1})
    assert read.values(*KNOWN)[1] == row
    assert read.values("corrected_occupation_id") == [(None,), (None,)]


def test_a_correction_is_known_in_any_case_and_by_its_label(tmp_path: Path) -> None:
    """One in capitals was dropped in silence, and so was the label of another occupation."""
    lines = [f"x,cook,cook,,incorrect,{text},," for text in ("NURSE", "smith", " Smith ")]
    read = read_rows(tmp_path, *lines)
    assert read.values("corrected_occupation_id") == [("nurse",), ("0123",), ("0123",)]
    assert (read.refused, read.repairs) == ([], {})


def test_a_correction_that_is_dropped_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read_rows(tmp_path, GOOD, *[f"x{row},cook,chef,,incorrect,pilot{row},," for row in range(5)])
    warnings = capsys.readouterr().out.splitlines()
    assert len(warnings) == 4
    assert warnings[0] == (
        "warning: f.csv, line 3: the taxonomy has no occupation 'pilot0', so the row counts as "
        "incorrect without a correction"
    )
    assert warnings[3] == "warning: f.csv: and 2 more such rows"


def test_a_matched_title_that_stands_in_no_index_is_replaced(tmp_path: Path) -> None:
    """It is held out for a test."""
    read = read_rows(tmp_path, "x,cook,grill cook,,correct,,,")
    assert read.values("matched_title") == [("cook",)]
    assert read.repairs == {"matched_title_replaced": 1}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("x,cook,cook,,,nurse,,", ("cook", "incorrect", "nurse")),
        ("x,cook,cook,,,cook,,", ("cook", "correct", None)),
        ("x,,,,,nurse,,", ("nurse", "correct", None)),
        ("x,cook,cook,,,123,,", ("cook", "incorrect", "0123")),
        ("x,cook,cook,,,1200.0,,", ("cook", "incorrect", "1200")),
    ],
)
def test_a_correction_alone_is_a_verdict(tmp_path: Path, line: str, said: tuple[str]) -> None:
    read = read_rows(tmp_path, line)
    columns = ("predicted_occupation_id", "verdict", "corrected_occupation_id")
    assert (read.values(*columns), read.refused) == ([said], [])
    assert read.repairs["verdict_from_correction"] == 1


def test_verdicts_in_the_words_of_older_files_are_read_beside_the_new_ones(tmp_path: Path) -> None:
    """`right, wrong, no job title` mean what `correct, incorrect, not_a_job_title` mean now."""
    lines = [
        f"x{number},cook,cook,,{verdict},,,"
        for number, verdict in enumerate(
            ("right", "correct", "Wrong", "incorrect", "no job title", "not a job title")
        )
    ]
    read = read_rows(tmp_path, *lines)
    assert [verdict for (verdict,) in read.values("verdict")] == [
        *("correct", "correct", "incorrect", "incorrect"),
        *("not_a_job_title", "not_a_job_title"),
    ]
    assert (read.refused, read.repairs) == ([], {})


def test_not_a_job_title_keeps_its_prediction_or_has_none(tmp_path: Path) -> None:
    lines = ("x,cook,chef,,No  Job Title,,,", "y,,,,NOT_A_JOB_TITLE,,,")
    read = read_rows(tmp_path, *lines)
    assert read.values(*KNOWN) == [
        ("x", "cook", "chef", "not_a_job_title"),
        ("y", None, None, "not_a_job_title"),
    ]
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


def judged(folder: Path, *lines: str) -> Judged:
    (folder / "f.csv").write_text("\n".join([HEADER, *lines]), encoding="utf-8")
    return feedback(params_for(folder), ALIASES, frozenset(), frozenset())


def test_duplicates_count_once(tmp_path: Path) -> None:
    """The same reviewer's same words, in any spelling of the title, and in two files."""
    again = GOOD.replace("fry cook", "Fry  COOK!")
    (tmp_path / "e.csv").write_text(f"{HEADER}\n{GOOD}\n", encoding="utf-8")
    made = judged(tmp_path, GOOD, again)
    assert made.rejected.is_empty()
    assert (made.counts["rows"], made.counts["duplicate"], made.counts["predictions"]) == (3, 2, 1)
    assert made.judged["resolution"].to_list() == ["correct"]


def test_a_reviewer_who_contradicts_himself_holds_what_he_said_last(tmp_path: Path) -> None:
    later = GOOD.replace("correct,,ann,2026-01-01", "incorrect,nurse,ann,2.1.2026")
    made = judged(tmp_path, later, GOOD)
    assert made.counts["outdated"] == 1
    assert made.judged.select("resolution", "occupation_id").rows() == [("incorrect", "nurse")]


@pytest.mark.thorough
def test_at_once_he_has_said_nothing(tmp_path: Path) -> None:
    made = judged(tmp_path, GOOD, GOOD.replace("correct", "incorrect"))
    assert made.judged.select("resolution", "disputed").rows() == [("unresolved", False)]
    assert made.verdicts.is_empty()


def test_reviewers_who_contradict_each_other_are_counted(tmp_path: Path) -> None:
    """Two against one; a spreadsheet's date tells that nobody spoke later."""
    others = [GOOD.replace("correct,,ann", f"incorrect,nurse,{name}") for name in ("bob", "eve")]
    made = judged(tmp_path, GOOD, *[line.replace("2026-01-01", "46023") for line in others])
    assert made.counts["conflicts"] == 1
    assert made.judged.select("resolution", "disputed", "occupation_id").rows() == [
        ("incorrect", True, "nurse")
    ]
