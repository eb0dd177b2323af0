"""The manual set in its two formats, row by row and as published."""

from __future__ import annotations

from pathlib import Path

import pytest
from params_of import synonyms_params
from published import DATA, needs

from tasks.pipeline.synonyms.reader import read_synonyms
from tasks.tables.rejected import RejectedRows, require_few_refused
from tasks.tables.source_files import IngestError

THESAURUS = DATA / "synonyms/synonym_job_titles_for_search.txt"


def read(path: Path, reader: str) -> tuple[list[tuple[str, str]], RejectedRows]:
    rejected = RejectedRows()
    params = synonyms_params(reader=reader, folder=str(path.parent), file=path.name)
    return read_synonyms(params, rejected), rejected


def written(tmp_path: Path, text: str, reader: str) -> tuple[list[tuple[str, str]], RejectedRows]:
    path = tmp_path / "synonyms.csv"
    path.write_text(text, encoding="utf-8", newline="")
    return read(path, reader)


def test_table(tmp_path: Path) -> None:
    """Normalize, keep each pair once whichever way round, and refuse others with a reason."""
    rows = ["Cook,Chef de  Partie", "chef de partie,cook", ",cook", "cook,-", "cook,COOK!"]
    rows += ["a,b,c", "R&D man,developer"]
    pairs, rejected = written(tmp_path, "\n".join(["term,synonym", *rows, ""]), "table")
    assert pairs == [("cook", "chef de partie"), ("r&d man", "developer")]
    assert rejected.refused == [
        ("synonyms.csv", 3, "duplicate row", "chef de partie,cook"),
        ("synonyms.csv", 4, "empty term", ",cook"),
        ("synonyms.csv", 5, "empty synonym", "cook,-"),
        ("synonyms.csv", 6, "term and synonym are the same", "cook,COOK!"),
        ("synonyms.csv", 7, "wrong number of fields", "a,b,c"),
    ]
    assert rejected.rows == {"synonyms.csv": 7}


def test_thesaurus(tmp_path: Path) -> None:
    """End lines as the publisher's do; a term without another name is no fault."""
    lines = [
        "cook, line cook, chef => cook",
        "baker => baker",
        "access, access services => access_jobs",
    ]
    lines += [
        "tax man => tax_inspector",
        "no arrow",
        "a => b => c",
        "x, , y => x",
        "z =>",
        "\udcff => f",
    ]
    lines += ["chef => cook", ""]
    path = tmp_path / "thesaurus.txt"
    path.write_bytes("\r\n".join(lines).encode("utf-8", "surrogateescape"))
    pairs, rejected = read(path, "thesaurus")
    assert pairs == [
        ("cook", "line cook"),
        ("cook", "chef"),
        ("access", "access services"),
        ("tax inspector", "tax man"),
        ("x", "y"),
    ]
    assert [(line, reason) for _, line, reason, _ in rejected.refused] == [
        (5, "not exactly one =>"),
        (6, "not exactly one =>"),
        (7, "empty synonym"),
        (8, "empty term"),
        (9, "bytes that are not text"),
        (10, "duplicate row"),
    ]


def test_other_names_of_columns_and_none_at_all(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("term;synonym;wanted\nx;cook;chef\n", encoding="utf-8")
    columns = {"term": "synonym", "synonym": "wanted"}
    params = synonyms_params(folder=str(tmp_path), file=path.name, columns=columns)
    assert read_synonyms(params, RejectedRows()) == [("cook", "chef")]
    assert read_synonyms(synonyms_params(reader="none", file="absent"), RejectedRows()) == []
    with pytest.raises(IngestError, match=r"synonyms\.columns: missing \[\], unknown \['title'\]"):
        read_synonyms(synonyms_params(columns={"title": "x"}), RejectedRows())


def test_several_files_in_their_order(tmp_path: Path) -> None:
    for name, rows in (("b.csv", "cook,chef\n"), ("a.csv", "baker,bread maker\nchef,cook\n")):
        (tmp_path / name).write_text(f"term,synonym\n{rows}", encoding="utf-8")
    rejected = RejectedRows()
    params = synonyms_params(folder=str(tmp_path), file=["b.csv", "a.csv"])
    assert read_synonyms(params, rejected) == [("cook", "chef"), ("baker", "bread maker")]
    assert rejected.refused == [("a.csv", 3, "duplicate row", "chef,cook")]


def test_too_many_refused_rows_are_an_error(tmp_path: Path) -> None:
    """Make two faults in four rows: just what a share of 0.5 allows; the duplicate is none."""
    text = "term,synonym\na,b\nb,a\n,c\nc,\n"
    _, rejected = written(tmp_path, text, "table")
    require_few_refused(rejected, 0.5, "synonyms")
    with pytest.raises(IngestError, match=r"2 of 4 rows.*'empty synonym': 1"):
        require_few_refused(rejected, 0.49, "synonyms")


def test_the_wrong_reader_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match="no column"):
        written(tmp_path, "a, b => b\n", "table")
    pairs, rejected = written(tmp_path, "term,synonym\na,b\n", "thesaurus")
    assert pairs == []
    with pytest.raises(IngestError, match=r"check synonyms\.reader"):
        require_few_refused(rejected, 0.01, "synonyms")


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    for reader in ("table", "thesaurus"):
        with pytest.raises(IngestError, match=r"synonyms\.file"):
            read(tmp_path / "none.csv", reader)


def test_an_empty_set_is_none(tmp_path: Path) -> None:
    for text, reader in (("term,synonym\n", "table"), ("", "thesaurus")):
        pairs, rejected = written(tmp_path, text, reader)
        assert pairs == []
        require_few_refused(rejected, 0.0, "synonyms")


@needs(THESAURUS)
def test_the_published_thesaurus() -> None:
    """Count 21,835 names in 8,377 lines, the term one of them but in 9: 21,835 - 8,368 = 13,467."""
    pairs, rejected = read(THESAURUS, "thesaurus")
    assert rejected.refused == []
    assert sum(rejected.rows.values()) == 8_377
    assert len(pairs) == 13_467
    assert ("cost accountant", "budget accountant") in pairs
    assert ("access", "access services") in pairs
    assert not any(term.endswith(" jobs") for term, _ in pairs)
    lines = THESAURUS.read_text(encoding="utf-8").splitlines()
    names = sum(line.split("=>")[0].count(",") + 1 for line in lines)
    assert names - (8_377 - 9) == 13_467
