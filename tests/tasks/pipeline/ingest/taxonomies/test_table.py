"""Any table by a column map."""

from collections.abc import Mapping

import polars as pl
import pytest
from params_of import taxonomy_params

from tasks.pipeline.ingest.taxonomies import table
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import IngestError

SHORT = {"occupation_id": "Group", "title": "Name"}
FULL = SHORT | {"occupation_label": "Label", "codes": "Path"}


def read(path, columns: Mapping[str, str | list[str]]):
    rejected = RejectedRows()
    params = taxonomy_params("table", {"titles": str(path)}, columns=columns)
    return table.read(params, rejected), rejected


def test_without_labels_the_first_title_is_the_label(tmp_path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Name,Group\ncook,1\nbaker,2\nchef,1\nCOOK,1\n,2\ncook,\n", encoding="utf-8")
    taxonomy, rejected = read(path, SHORT)
    aliases = [("1", "cook", "", True), ("1", "chef", "", False), ("2", "baker", "", True)]
    assert taxonomy.aliases().rows() == aliases
    faults = [(5, "duplicate title"), (6, "empty title"), (7, "empty occupation_id")]
    assert [refused[1:3] for refused in rejected.refused] == faults


def test_ids_that_are_whole_floats_are_integers(tmp_path) -> None:
    """As pandas writes them beside missing ones; where one is no such number, all stay."""
    path = tmp_path / "t.csv"
    for other, ids in (("2232.0", ["2231", "2232"]), ("22.3", ["22.3", "2231.0"])):
        path.write_text(f"Name,Group\nnurse,2231.0\nmidwife,{other}\nx,\n", encoding="utf-8")
        assert sorted(read(path, SHORT)[0].titles) == ids
    frame = pl.DataFrame({"Name": ["nurse", "x"], "Group": [2231.0, None]})
    frame.write_parquet(tmp_path / "t.parquet")
    assert list(read(tmp_path / "t.parquet", SHORT)[0].titles) == ["2231"]


def test_labels_and_codes(tmp_path) -> None:
    """Repeat nothing in line 4, another label in 5, other codes in 6, the label as title in 7."""
    path = tmp_path / "t.tsv"
    path.write_text(
        "Name\tGroup\tLabel\tPath\nchef\t1\tcook\t5 > 51\nline cook\t1\tcook\t5>51\n"
        "hash slinger\t1\t\t\nx\t1\tbaker\t5>51\ny\t1\tcook\t5\ncook\t1\tcook\t5>51\n",
        encoding="utf-8",
    )
    taxonomy, rejected = read(path, FULL)
    assert taxonomy.occupations().rows() == [("1", "cook", ["5", "51"])]
    assert list(taxonomy.titles["1"].values()) == ["cook", "chef", "line cook", "hash slinger"]
    assert [refused[1:3] for refused in rejected.refused] == [
        (5, "label or codes differ from an earlier row"),
        (6, "label or codes differ from an earlier row"),
        (7, "duplicate title"),
    ]


def test_several_titles_a_row(tmp_path) -> None:
    """Take empty ones for absent; refuse only a row without any."""
    path = tmp_path / "t.csv"
    path.write_text("Group,en,de\n1,cook,Koch\n2,baker,\n3,,\n2,cook,Koch\n", encoding="utf-8")
    taxonomy, rejected = read(path, SHORT | {"title": ["en", "de"]})
    assert taxonomy.aliases().rows() == [
        ("1", "cook", "", True),
        ("1", "Koch", "", False),
        ("2", "baker", "", True),
        ("2", "Koch", "", False),
        ("2", "cook", "", False),
    ]
    assert [refused[1:3] for refused in rejected.refused] == [(4, "empty title")]
    with pytest.raises(IngestError, match="name one column"):
        read(path, {"occupation_id": ["Group", "en"], "title": "de"})


def test_a_column_of_languages(tmp_path) -> None:
    """A label is of its row's language, unless it repeats the occupation's; line 7 has another."""
    path = tmp_path / "t.csv"
    path.write_text(
        "Group,Name,Label,Lang\n1,chef,cook,en\n1,Köchin,Koch,DE\n1,Koch,Koch,de\n1,kok,,nl\n"
        "1,cuoco,cook,it\n1,Smutje,Bäcker,de\n2,baker,,\n",
        encoding="utf-8",
    )
    columns = SHORT | {"occupation_label": "Label", "language": "Lang"}
    taxonomy, rejected = read(path, columns)
    assert taxonomy.aliases().rows() == [
        ("1", "cook", "en", True),
        ("1", "Koch", "de", True),
        ("1", "kok", "nl", True),
        ("1", "cuoco", "it", True),
        ("1", "Köchin", "de", False),
        ("1", "chef", "en", False),
        ("2", "baker", "", True),
    ]
    assert [refused[1:3] for refused in rejected.refused] == [
        (4, "duplicate title"),
        (7, "label or codes differ from an earlier row"),
    ]


def test_several_files_of_one_form(tmp_path) -> None:
    for name, title in (("a", "cook"), ("b", "chef")):
        (tmp_path / f"{name}.csv").write_text(f"Name,Group\n{title},1\n", encoding="utf-8")
    files = {"titles": str(tmp_path / "a.csv"), "titles_2": str(tmp_path / "b.csv")}
    taxonomy = table.read(taxonomy_params("table", files, columns=SHORT), RejectedRows())
    assert taxonomy.aliases().rows() == [("1", "cook", "", True), ("1", "chef", "", False)]


@pytest.mark.parametrize("columns", [{}, {"title": "Name"}, SHORT | {"label": "Label"}])
def test_a_map_that_does_not_fit_is_explained(columns: dict[str, str]) -> None:
    with pytest.raises(IngestError, match=r"ingest\.taxonomy\.columns: missing"):
        read("t.csv", columns)


def test_a_missing_column_is_named_with_what_to_do(tmp_path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Name,Id\ncook,1\n", encoding="utf-8")
    with pytest.raises(IngestError, match=r"no column \['Group'\].*files\.titles.*external:"):
        read(path, SHORT)
