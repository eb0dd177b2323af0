"""Small inputs on which the product was wrong, as they lie with the published data."""

from __future__ import annotations

import pytest
from published import DATA, needs

from tasks.apps.bulk.inspection import Refused
from tasks.apps.bulk.source import TitleSource

FAULTY = DATA / "faulty_inputs"
pytestmark = needs(FAULTY)
ODD_TITLES = (
    "C.E.O.;G.P.;Product Manager;PM;Youtuber;Politician;Nurse Band 6;Intern;night nurse;"
    "Vice President;n/a;test;house wife;not working;Techer"
)
ROWS = {
    "quote_unbalanced.csv": (
        ["nurse", "truck driver", "carpenter", "chef", "baker"],
        [Refused("quote_unbalanced.csv", 3, "broken quotes", '2,"software developer,Paris')],
        [],
    ),
    "backslash.csv": (['Nurse "night"', "baker"], [], ["a backslash before quotes"]),
    "header_linebreak.csv": (["nurse", "baker"], [], []),
    "one_col_blank.csv": (["nurse", "", "baker"], [], []),
    "hive": (["nurse", "baker"], [], []),
    "sep.csv": (["nurse", "baker"], [], []),
    "trailing_commas.csv": (
        ["nurse", "baker"],
        [],
        ["3 empty columns behind the last left out"],
    ),
    "title_and_job_title.csv": (["nurse", "baker", "software developer"], [], []),
    "utf16_nobom.csv": (["nurse"], [], []),
    "titles_wrong.csv": (ODD_TITLES.split(";"), [], []),
}
COLUMNS = {
    "header_linebreak.csv": ["Job\nTitle", "Location"],
    "hive": ["job_title", "year", "country"],
    "sep.csv": ["job_title", "salary"],
    "trailing_commas.csv": ["job_title", "city"],
    "utf16_nobom.csv": ["job_title", "city"],
}


def test_no_file_is_left_out() -> None:
    assert {path.name for path in FAULTY.iterdir()} == {*ROWS, "README.md"}


@pytest.mark.parametrize("name", ROWS)
def test_every_row_comes_out_or_is_refused(name: str) -> None:
    found = TitleSource.find(str(FAULTY / name))
    titles, refused, notes = ROWS[name]
    seen = list[Refused]()
    rows = [
        row
        for file in found.files
        for part in found.parts(file, seen.append)
        for row in part.to_pylist()
    ]
    assert [row[found.column] for row in rows] == titles
    assert seen == refused
    assert list(found.notes) == [f"{name}: {note}" for note in notes]
    assert list(found.schema.names) == COLUMNS.get(name, list(found.schema.names))


def test_the_partitions_and_the_file_are_columns() -> None:
    found = TitleSource.find(str(FAULTY / "hive"), file_column="file")
    rows = [
        row for file in found.files for part in found.parts(file, print) for row in part.to_pylist()
    ]
    assert rows == [
        {
            "job_title": title,
            "year": year,
            "country": country,
            "file": f"year={year}/country={country}/part-0.parquet",
        }
        for title, year, country in (("nurse", "2023", "DE"), ("baker", "2024", "FR"))
    ]
