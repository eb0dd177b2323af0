"""ESCO's titles in all languages in one table."""

import polars as pl
import pytest
from params_of import taxonomy_params

from tasks.pipeline.ingest.taxonomy import read_taxonomy
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import IngestError

TITLES = [("u1", "de", "Koch", True), ("u1", "de", "Köchin", False), ("u2", "de", "Bäcker", True)]
TITLES += [("u3", "de", "Müller", True), ("u1", "en", "cook", True), ("u1", "en", "Koch", False)]
TITLES += [("u1", "en", "COOK", False), ("u9", "en", "stranger", False)]


def read(tmp_path, languages: list[str]):
    columns = ["occupation_id", "language", "title", "preferred"]
    frames = {
        "titles": pl.DataFrame(TITLES, schema=columns, orient="row"),
        "occupations": pl.DataFrame(
            {"occupation_id": ["u1", "u2", "u3"], "isco_code": ["51", "51", "99"]}
        ),
        "groups": pl.DataFrame({"isco_code": ["5", "51"], "label": ["services", "personal"]}),
    }
    files = {name: str(tmp_path / f"{name}.parquet") for name in frames}
    for name, frame in frames.items():
        frame.write_parquet(files[name])
    rejected = RejectedRows()
    params = taxonomy_params("esco_parquet", files, languages=languages)
    return read_taxonomy(params, rejected), rejected


def test_labels_are_english_where_no_language_is_chosen(tmp_path) -> None:
    """And a title may be of two languages."""
    taxonomy, rejected = read(tmp_path, [])
    codes = ["5", "51"]
    assert taxonomy.occupations().rows() == [("u1", "cook", codes), ("u2", "Bäcker", codes)]
    assert taxonomy.aliases().rows() == [
        ("u1", "cook", "en", True),
        ("u1", "Koch", "de", True),
        ("u1", "Koch", "en", False),
        ("u1", "Köchin", "de", False),
        ("u2", "Bäcker", "de", True),
    ]
    assert [(line, reason) for _, line, reason, _ in rejected.refused] == [
        (4, "code not in the hierarchy"),
        (7, "duplicate title"),
        (8, "unknown occupation"),
    ]


def test_languages_that_are_chosen(tmp_path) -> None:
    """In their order; an occupation without any is left out."""
    english = [("u1", "cook", "en", True), ("u1", "Koch", "en", False)]
    assert read(tmp_path, ["en"])[0].aliases().rows() == english
    labels = read(tmp_path, ["de", "en"])[0].occupations()["occupation_label"].to_list()
    assert labels == ["Koch", "Bäcker"]
    with pytest.raises(IngestError, match=r"languages fr, xx: .*; the titles are de, en\. "):
        read(tmp_path, ["de", "fr", "xx"])
