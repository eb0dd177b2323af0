"""Where the header stands, what its columns are called, and forms of address among their values."""

import pytest

from tasks.tables.header import are_honorifics, header_index, header_of, holds_names, one_line

ROWS = [["id", "job_title", "city"], ["1", "nurse", "Berlin"], ["2", "baker", "Ulm"]]


@pytest.mark.parametrize(
    "above",
    [
        [],
        [[]],
        [["# exported in May"], ["# by HR", " in Berlin"]],
        [["Vacancies of May"], []],
        [["Vacancies of May", "", ""], ["", "", ""]],
        [["Created 2024-05-01", " by HR"]],
    ],
    ids=["nothing", "blank", "comments", "report", "padded report", "two fields"],
)
def test_lines_above_the_header_are_no_header(above) -> None:
    assert header_index([*above, *ROWS], ()) == len(above)


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        ([["# exported"], ["job_title"], ["nurse"]], 1),
        ([["#", "job_title"], ["1", "nurse"]], 0),
        ([["", "job_title", "city"], ["0", "nurse", "Berlin"]], 0),
        ([["a", "b"], ["1", "2", "3"], ["4", "5", "6"]], 0),
        ([["a", "b", "c", "d"], ["1", "2"], ["1", "2"]], 0),
        ([["nurse", "night"], ["baker"], ["cook", "day"]], 0),
        ([None, ["a", "b"], ["c", "d"]], 0),
        ([], 0),
    ],
    ids=["one column", "number sign", "index", "ragged", "sparse", "lines", "broken", "nothing"],
)
def test_the_first_row_is_the_header_unless_something_tells(rows, place: int) -> None:
    assert header_index(rows, ()) == place


def test_needed_names_come_before_all_else() -> None:
    rows = [["Report"], ["of", "May"], ["Job\nTitle", "ID"], ["a", "b"]]
    assert header_index(rows, ["id", "job title"]) == 2


def test_columns_without_a_name_are_left_out_or_named() -> None:
    assert header_of(["a", "", "b\nc ", "", ""], [["1", "2", "3", "", ""], None, []]) == (
        ["a", "column_2", "b\nc"],
        ["2 empty columns behind the last left out", "column 2 has no name: column_2"],
    )
    assert header_of(["column_2", ""], [["", "x", "y"]])[0] == ["column_2", "column_2_"]


def test_names_are_no_values() -> None:
    assert holds_names(["id", "Größe (cm)", ""])
    for row in (["1", "nurse"], ["2024-05-01", "x"], ["x", "x"]):
        assert not holds_names(row)
    assert one_line(" Job\r\n  Title ") == "Job Title"


def test_forms_of_address_are_no_job_titles() -> None:
    assert are_honorifics(["Mr", "Mrs.", "Prof. Dr.", "Herr", "", "Frau/Herr"])
    assert not are_honorifics(["Dr", "nurse", "Herrenschneider", "professor of law"])
    assert not are_honorifics([])
