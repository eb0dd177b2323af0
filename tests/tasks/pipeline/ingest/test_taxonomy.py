"""Which title is kept, which is merged, and the order of the frames."""

import pytest

from tasks.pipeline.ingest.taxonomy import Taxonomy, checked_reader
from tasks.tables.rejected import RejectedRows, Row
from tasks.tables.source_files import IngestError

ROW = Row("f", 1, "text", {})


def test_first_spelling_wins_and_the_label_before_all() -> None:
    taxonomy = Taxonomy(RejectedRows())
    taxonomy.add_occupation(ROW, "b", "Nurse", ["2", "22"])
    for title in ("RN", "nurse", "Ward  Sister", "ward sister", "ｒｎ", "Absolute nurse"):
        taxonomy.add_title(ROW, "b", title)
    taxonomy.add_occupation(ROW, "a", "zoo keeper", [])
    taxonomy.add_title(ROW, "a", "RN")
    assert taxonomy.aliases().rows() == [
        ("a", "zoo keeper", "", True),
        ("a", "RN", "", False),
        ("b", "Nurse", "", True),
        ("b", "Absolute nurse", "", False),
        ("b", "RN", "", False),
        ("b", "Ward  Sister", "", False),
    ]
    assert taxonomy.occupations().rows() == [("a", "zoo keeper", []), ("b", "Nurse", ["2", "22"])]
    assert taxonomy.rejected.reasons() == {"duplicate title": 3}


def test_what_is_refused() -> None:
    taxonomy = Taxonomy(RejectedRows())
    assert taxonomy.add_occupation(ROW, "a", "cook", [])
    assert not taxonomy.add_occupation(ROW, "a", "chef", [])
    assert not taxonomy.add_occupation(ROW, "", "chef", [])
    assert not taxonomy.add_occupation(ROW, "c", "-- !", [])
    taxonomy.add_title(ROW, "c", "chef")
    taxonomy.add_title(ROW, "a", "…")
    taxonomy.add_title(ROW, "", "chef")
    assert [reason for _, _, reason, _ in taxonomy.rejected.refused] == [
        "duplicate occupation",
        "empty occupation_id",
        "empty occupation_label",
        "unknown occupation",
        "empty title",
        "empty occupation_id",
    ]
    assert taxonomy.aliases().rows() == [("a", "cook", "", True)]


def test_a_title_stands_once_for_each_of_its_languages() -> None:
    taxonomy = Taxonomy(RejectedRows())
    assert taxonomy.add_occupation(ROW, "a", "Barista", ["5"], "it")
    assert taxonomy.add_occupation(ROW, "a", "barista", ["6"], "en")
    assert not taxonomy.add_occupation(ROW, "a", "waiter", [], "en")
    taxonomy.add_title(ROW, "a", "BARISTA", "en")
    taxonomy.add_title(ROW, "a", "barista", "de")
    titles = [("Barista", "it", True), ("barista", "en", True), ("barista", "de", True)]
    assert taxonomy.aliases().rows() == [("a", *title) for title in titles]
    assert taxonomy.occupations().rows() == [("a", "Barista", ["5"])]
    assert taxonomy.in_languages([]).label("a") == "barista"
    assert taxonomy.rejected.reasons() == {"duplicate occupation": 1, "duplicate title": 1}


def test_groups_keep_their_labels_whatever_the_languages() -> None:
    taxonomy = Taxonomy(RejectedRows())
    taxonomy.groups = {"5": "service workers"}
    taxonomy.add_occupation(ROW, "a", "barista", ["5", "51"], "en")
    expected = [("5", "service workers")]
    assert taxonomy.labelled_groups().rows() == expected
    for languages in ([], ["en"]):
        assert taxonomy.in_languages(languages).labelled_groups().rows() == expected


def test_without_languages_none_can_be_chosen() -> None:
    taxonomy = Taxonomy(RejectedRows())
    taxonomy.add_occupation(ROW, "a", "cook", [])
    assert taxonomy.in_languages([]).aliases().equals(taxonomy.aliases())
    with pytest.raises(IngestError, match=r"languages en: .*; the titles are of no known language"):
        taxonomy.in_languages(["en"])


@pytest.mark.parametrize("name", ["isco", "", "__init__", "../text", "Esco", "esco.py"])
def test_an_unknown_format_is_told_which_there_are(name: str) -> None:
    with pytest.raises(ValueError, match="choose esco, esco_parquet, onet, sample, table"):
        checked_reader(name)
