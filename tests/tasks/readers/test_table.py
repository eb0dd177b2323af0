"""Any table by a column map."""

import polars as pl
import pytest

from tasks.readers.outside import IngestError
from tasks.readers.rejected import Ledger
from tasks.readers.table import read_table
from tasks.sections import TaxonomyParams

SHORT = {"occupation_id": "Group", "title": "Name"}
FULL = SHORT | {"occupation_label": "Label", "codes": "Path"}


def read(path, columns: dict[str, str]):
    ledger = Ledger()
    params = TaxonomyParams(reader="table", files={"titles": str(path)}, columns=columns)
    return read_table(params, ledger), ledger


def test_without_labels_the_first_title_is_the_label(tmp_path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Name,Group\ncook,1\nbaker,2\nchef,1\nCOOK,1\n,2\ncook,\n", encoding="utf-8")
    taxonomy, ledger = read(path, SHORT)
    assert taxonomy.aliases().rows() == [
        ("1", "cook", True),
        ("1", "chef", False),
        ("2", "baker", True),
    ]
    assert [refused[1:3] for refused in ledger.refused] == [
        (5, "duplicate title"),
        (6, "empty title"),
        (7, "empty occupation_id"),
    ]


def test_labels_and_codes(tmp_path) -> None:
    """Line 4 repeats nothing, 5 another label, 6 other codes, 7 the label as title."""
    path = tmp_path / "t.tsv"
    path.write_text(
        "Name\tGroup\tLabel\tPath\nchef\t1\tcook\t5 > 51\nline cook\t1\tcook\t5>51\n"
        "hash slinger\t1\t\t\nx\t1\tbaker\t5>51\ny\t1\tcook\t5\ncook\t1\tcook\t5>51\n",
        encoding="utf-8",
    )
    taxonomy, ledger = read(path, FULL)
    assert taxonomy.occupations().rows() == [("1", "cook", ["5", "51"])]
    assert list(taxonomy.titles["1"].values()) == ["cook", "chef", "line cook", "hash slinger"]
    assert [refused[1:3] for refused in ledger.refused] == [
        (5, "label or codes differ from an earlier row"),
        (6, "label or codes differ from an earlier row"),
        (7, "duplicate title"),
    ]


def test_parquet_and_csv_give_the_same(tmp_path) -> None:
    frame = pl.DataFrame(
        {
            "Group": [1, 1, 2, 2],
            "Name": ["a", "b", "x, y", "👩‍🍳\nz"],
            "Label": ["b", "b", "y", ""],
            "Path": ["5>51", "5>51", "6", ""],
        }
    )
    frame.write_csv(tmp_path / "t.csv")
    frame.write_parquet(tmp_path / "t.parquet")
    one, other = (read(tmp_path / name, FULL)[0] for name in ("t.csv", "t.parquet"))
    assert one.aliases().equals(other.aliases())
    assert one.occupations().equals(other.occupations())
    assert one.aliases().height == 5  # b and a; y, "x, y" and the astral one


@pytest.mark.parametrize("columns", [{}, {"title": "Name"}, SHORT | {"label": "Label"}])
def test_a_map_that_does_not_fit_is_explained(columns: dict[str, str]) -> None:
    with pytest.raises(IngestError, match=r"ingest\.taxonomy\.columns: missing"):
        read("t.csv", columns)


def test_a_missing_column_is_named_with_what_to_do(tmp_path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Name,Id\ncook,1\n", encoding="utf-8")
    with pytest.raises(IngestError, match=r"no column \['Group'\].*files\.titles.*import-url"):
        read(path, SHORT)
