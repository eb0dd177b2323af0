"""The column of titles is told by its name and its values, or asked for."""

from pathlib import Path

import pytest

from tasks.apps.bulk.inspection import title_columns, usual_column

JOBS, HONORIFICS, NUMBERS = ["nurse", "Dr", "chef"], ["Mr", "Mrs.", ""], ["1", "2"]


def chosen(*named: str, sure: bool = False, usual: str = "", **values: list[str]) -> list[str]:
    return title_columns(values, named, "these columns", sure_of_names=sure, usual=usual)


@pytest.mark.parametrize(
    ("values", "column"),
    [
        ({"title": JOBS, "job_title": JOBS}, "job_title"),
        ({"title": HONORIFICS, "Job-Title": JOBS}, "Job-Title"),
        ({"job_title": NUMBERS, "TITLE": JOBS}, "TITLE"),
        ({"Job\nTitle": JOBS, "city": JOBS}, "Job\nTitle"),
        ({"title": [], "city": JOBS}, "title"),
    ],
)
def test_by_name_and_values(values: dict[str, list[str]], column: str) -> None:
    assert chosen(**values) == [column]


def test_named_columns_are_taken_in_their_order() -> None:
    values = {"de": JOBS, "Job\n Title": NUMBERS}
    assert chosen("Job Title", "de", **values) == ["Job\n Title", "de"]
    with pytest.raises(ValueError, match="no column 'Title', but these columns"):
        chosen("Title", **values)


def test_an_only_column_is_taken_if_its_name_is_sure() -> None:
    assert chosen(sure=True, Beruf=JOBS) == ["Beruf"]
    for values in ({"Beruf": JOBS}, {"title": HONORIFICS}, {"title": NUMBERS}):
        with pytest.raises(ValueError, match="name it: --column"):
            chosen(**values)


def test_the_usual_column_comes_before_the_detected_one() -> None:
    values = {"job_title": JOBS, "Beruf": JOBS}
    assert chosen(usual="Beruf", **values) == ["Beruf"]
    assert chosen("job_title", usual="Beruf", **values) == ["job_title"]
    assert chosen(usual="profession", **values) == ["job_title"]


def test_the_usual_column_is_that_of_the_profile(tmp_path: Path) -> None:
    assert usual_column(tmp_path) == ""
    (tmp_path / "params.yaml").write_text("ingest: {inputs: {columns: {raw_title: Beruf}}}")
    assert usual_column(tmp_path) == "Beruf"
    (tmp_path / "params.yaml").write_text("register: {name: toy}")
    assert usual_column(tmp_path) == ""
