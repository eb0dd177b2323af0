"""Records of delimited text: any text survives, and no line is lost."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.tables.records import Format, Records

COMMAS = Format(",")

FIELD = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ['"', '""', "a\nb", "a\r\nb", "\r", ",", "🧑‍🚀", " ", ""]
)
ROWS = st.lists(st.lists(FIELD, min_size=2, max_size=3), min_size=1, max_size=6)


@pytest.mark.thorough
@given(rows=ROWS)
def test_any_text_survives_quoting(rows: list[list[str]]) -> None:
    """Make a round trip; the oracle counts the text's line breaks before a record for its start."""
    lines, starts = [], []
    for row in rows:
        text = io.StringIO(newline="")
        csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow(row)
        starts.append(1 + len(lines))
        lines += list(io.StringIO(text.getvalue(), newline=""))
    split = list(Records(lines, COMMAS))
    assert [fields for _, _, fields in split] == rows
    assert [line for line, _, _ in split] == starts


@pytest.mark.thorough
@given(text=st.text('ab,"\n', max_size=40), first=st.integers(1, 9))
def test_lines_are_read_as_they_are_asked_for(text: str, first: int) -> None:
    """A stream gives what a list gives, and the first record of a file reads no second one."""
    lines = list(io.StringIO(text, newline=""))
    streamed = list(Records(iter(lines), COMMAS, first))
    assert streamed == [(line + first - 1, *rest) for line, *rest in Records(lines, COMMAS)]
    more = iter(["a,b\n", *lines])
    assert next(Records(more, COMMAS)) == (1, "a,b", ["a", "b"])
    assert list(more) == lines


@given(text=st.text('ab,"\n', max_size=40))
def test_no_line_is_lost_whatever_the_quotes(text: str) -> None:
    """Cover every physical line once and in order by records, refused ones included."""
    lines = list(io.StringIO(text, newline=""))
    split = list(Records(lines, COMMAS))
    starts = [start for start, _, _ in split] + [len(lines) + 1]
    assert starts[0] == 1
    for (start, record, _), end in zip(split, starts[1:], strict=True):
        assert record == "".join(lines[start - 1 : end - 1]).rstrip("\n")
