"""A spreadsheet rewrites a file when it saves it again, and the same rows come out."""

import csv
import io
import json
from pathlib import Path

import polars as pl
import pytest
from feedback_tables import GOOD, HEADER, Read, read_folder, read_rows, read_text
from tables.workbooks import write_workbook

from tasks.io.schemas import FEEDBACK

ROWS = [
    ['Köchin, "Chefin"; (urgent\t!)', "cook", "chef", "v1", "correct", "", "ann", "2026-11-24"],
    ["pan\nwasher", "cook", "cook", "", "incorrect", "nurse", "bob", "2026-11-24 13:05:10"],
]


def table(delimiter: str = ",", end: str = "\n", quoting: int = csv.QUOTE_MINIMAL) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerows([list(FEEDBACK), *ROWS])
    return text.getvalue()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Read:
    read = read_text(tmp_path_factory.mktemp("plain"), table())
    assert read.frame["raw_title"].to_list() == [row[0] for row in ROWS]
    assert read.values("judged_at")[1] == ("2026-11-24T13:05:10.000000",)
    return read


ENCODED = {
    "semicolons": (table(";"), "utf-8"),
    "Windows-1252": (table(";", "\r\n"), "cp1252"),
    "sep=": ("sep=;\r\n" + table(";", "\r\n"), "utf-8-sig"),
    "header in capitals": (table().replace(HEADER, HEADER.upper()), "utf-8"),
    "header with spaces": (table(";").replace(";", " ; ", 7), "utf-8"),
    "empty last columns": (table(";").replace("\n", ";;;\n").replace("pan;;;", "pan"), "utf-8"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ENCODED)
def test_another_encoding_gives_the_same_rows(tmp_path: Path, kind: str, plain) -> None:
    read = read_text(tmp_path, *ENCODED[kind])
    assert read.frame.equals(plain.frame) and read.refused == []


@pytest.mark.parametrize("name", ["f.xlsx", "f.jsonl", "f.parquet"])
def test_a_table_of_another_kind_gives_the_same_rows(tmp_path: Path, name: str, plain) -> None:
    if name == "f.xlsx":
        write_workbook(tmp_path / name, {"A": [list(FEEDBACK), *ROWS]})
    elif name == "f.jsonl":
        objects = [json.dumps(dict(zip(FEEDBACK, row, strict=True))) for row in ROWS]
        (tmp_path / name).write_text("\n".join(objects))
    else:
        pl.DataFrame(ROWS, schema=list(FEEDBACK), orient="row").write_parquet(tmp_path / name)
    read = read_folder(tmp_path)
    assert read.frame.equals(plain.frame) and read.refused == []


def test_a_line_in_quotes_as_a_whole(tmp_path: Path) -> None:
    """Opened in one column: a line that holds quotes is quoted when it is saved, others are not."""
    lines = table().split("\n", 1)[1].replace('"pan\nwasher"', "pan washer").splitlines()
    whole = [f'"{line.replace(chr(34), chr(34) * 2)}"' if '"' in line else line for line in lines]
    assert (whole[0][:4], whole[1]) == ('"""K', lines[1])
    read = read_rows(tmp_path, *whole)
    assert read.refused == []
    assert read.values("raw_title")[0] == (ROWS[0][0],)


def test_lines_are_counted_from_the_top_whatever_stands_there(tmp_path: Path) -> None:
    read = read_text(tmp_path, f"sep=,\n{HEADER}\n{GOOD}\nx,pilot,,,correct,,,\n")
    assert [refused[:2] for refused in read.refused] == [(4, "unknown occupation")]


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r"])
def test_a_guard_against_formulas_is_taken_away(tmp_path: Path, first: str) -> None:
    line = f"\"'{first}49 cook\",'@x,cook,,correct,,,"
    read = read_rows(tmp_path, line.replace("'@x", "cook"), line)
    assert read.values("raw_title") == [(f"{first}49 cook",)]
    assert read.refused == [(3 + (first == "\r"), "unknown occupation", line)]


def test_guards_of_ids_titles_and_reviewers_and_other_quotes(tmp_path: Path) -> None:
    guarded = "'t Hoen,'cook,'cook,'-1,correct,,'@ann,"
    fine = "'t Hoen,cook,cook,'-1,correct,,'@ann,"
    read = read_rows(tmp_path, fine, guarded)
    assert read.values("raw_title", "model_version", "reviewer_id") == [("'t Hoen", "-1", "@ann")]
    assert len(read.refused) == 1  # before a letter it is no guard


def dates(folder: Path, *judged_at: str) -> tuple[list[str | None], list[str]]:
    read = read_rows(folder, *(GOOD.replace("2026-01-01", date) for date in judged_at))
    taken = [date and date[:16] for (date,) in read.values("judged_at")]
    return taken, [reason for _, reason, _ in read.refused]


DOUBTFUL = "judged_at may be day/month or month/day: write 2026-11-24"


@pytest.mark.parametrize(
    ("judged_at", "taken", "refused"),
    [
        (["3/4/2026", "24/11/2026"], ["2026-04-03T00:00", "2026-11-24T00:00"], []),
        (["3/4/2026 9:05", "11/24/2026"], ["2026-03-04T09:05", "2026-11-24T00:00"], []),
        (["3/4/2026", "24/11/2026", "11/24/2026"], ["2026-11-24T00:00"] * 2, [DOUBTFUL]),
        (["3/4/2026", "4/4/2026"], ["2026-04-04T00:00"], [DOUBTFUL]),
        (["3/4/2026", "2026/11/24", "24.11.2026"], ["2026-11-24T00:00"] * 2, [DOUBTFUL]),
    ],
    ids=["day first", "month first", "both", "nobody knows", "of other forms"],
)
def test_a_file_tells_day_from_month(tmp_path: Path, judged_at, taken, refused) -> None:
    assert dates(tmp_path, *judged_at) == (taken, refused)


def test_a_file_tells_day_from_month_in_its_last_row(tmp_path: Path, monkeypatch) -> None:
    """Also where that lies in a later chunk; another file tells nothing."""
    monkeypatch.setattr("tasks.tables.rejected.CHUNK", 2)
    assert dates(tmp_path, *["3/4/2026"] * 4, "24/11/2026")[1] == []
    (tmp_path / "f.csv").rename(tmp_path / "e.csv")
    assert dates(tmp_path, "3/4/2026")[1] == [DOUBTFUL]
