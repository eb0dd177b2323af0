"""All tests' queries from their files, and what counts as the same string."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tasks.frames import write_frame
from tasks.queries import WRITERS, normalized, read_queries
from tasks.schemas import QUERIES


def write(data: Path) -> None:
    for writer in WRITERS:
        rows = [
            (f"{writer}-{part}", writer, part, f"{writer} {part}", ["a"], 1, "alias")
            for part in ("gate", "test", "valid")
        ]
        frame = pl.DataFrame(rows, schema=dict(QUERIES), orient="row")
        write_frame(frame, data / writer / "queries.parquet", QUERIES)


@pytest.mark.parametrize("part", ["test", "valid", "gate"])
def test_one_part_of_every_file_in_the_order_of_the_tables(tmp_path: Path, part: str) -> None:
    write(tmp_path)
    found = read_queries(part, tmp_path)
    assert found["query_id"].to_list() == [f"{writer}-{part}" for writer in WRITERS]
    assert set(found["part"]) == {part}


def test_a_missing_file_names_itself(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "synonyms/queries.parquet").unlink()
    with pytest.raises(Exception, match=r"synonyms/queries\.parquet is missing"):
        read_queries("test", tmp_path)


def test_normalized() -> None:
    """Case, white space and most punctuation do not tell strings apart; `+` and `#` do."""
    found = normalized(pl.Series(["Cook!", " cook"]), pl.Series(["C++", "C#", "c"]))
    assert found == {"cook", "c++", "c#", "c"}
    assert normalized() == set()
