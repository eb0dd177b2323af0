"""ESCO's format in small; the published file itself is read in test_published.py."""

import pytest
from params_of import taxonomy_params

from tasks.pipeline.ingest.taxonomies import esco
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import IngestError

HEAD = "conceptType,conceptUri,iscoGroup,preferredLabel,altLabels,hiddenLabels\n"
GROUPS = "conceptType,code,preferredLabel\nG,5,service\nG,51,personal\nG,512,\nG,5120,cooks\n"


def read(tmp_path, occupations: str, groups: str = GROUPS):
    (tmp_path / "o.csv").write_text(occupations, encoding="utf-8", newline="")
    (tmp_path / "g.csv").write_text(groups, encoding="utf-8", newline="")
    files = {"occupations": str(tmp_path / "o.csv"), "groups": str(tmp_path / "g.csv")}
    rejected = RejectedRows()
    return esco.read(taxonomy_params("esco", files), rejected), rejected


def test_titles_in_one_field_one_a_line_hidden_ones_left_out(tmp_path) -> None:
    """Start the second record on line 5: header, then three lines of the first."""
    record = 'O,u1,5120,cook,"chef \r\nhash slinger\n\nCook","kook"\nO,u2,5120,baker,"-\nB",\n'
    taxonomy, rejected = read(tmp_path, HEAD + record)
    assert taxonomy.aliases().rows() == [
        ("u1", "cook", "", True),
        ("u1", "chef", "", False),
        ("u1", "hash slinger", "", False),
        ("u2", "baker", "", True),
        ("u2", "B", "", False),
    ]
    assert taxonomy.codes["u1"] == ["5", "51", "512", "5120"]
    labels = [("5", "service"), ("51", "personal"), ("5120", "cooks")]
    assert taxonomy.labelled_groups().rows() == labels
    refused = [(2, "duplicate title", "Cook"), (6, "empty title", "-")]
    assert rejected.refused == [("o.csv", *row) for row in refused]


@pytest.mark.parametrize("code", ["", "5121", "9", "C5120"])
def test_a_group_that_isco_does_not_have_is_refused(tmp_path, code: str) -> None:
    taxonomy, rejected = read(tmp_path, f"{HEAD}O,u1,{code},cook,,\n")
    assert taxonomy.titles == {}
    assert rejected.reasons() == {"code not in the hierarchy": 1}


def test_a_group_without_code_is_refused(tmp_path) -> None:
    _, rejected = read(tmp_path, HEAD, GROUPS + "G,,\n")
    assert rejected.refused == [("g.csv", 6, "empty code", "G,,")]


def test_another_edition_without_the_column_is_an_error(tmp_path) -> None:
    with pytest.raises(IngestError, match=r"no column \['altLabels'\].*European Commission"):
        read(tmp_path, HEAD.replace("altLabels", "otherLabels"))


GERMAN = "conceptUri,preferredLabel,altLabels\n"
OF_EVERY_ONE = {
    "occupations_en.csv": f"{HEAD}O,u1,5120,cook,chef,\nO,u2,5120,baker,,\n",
    "occupations_de.csv": f'{GERMAN}u1,Koch,"Köchin\nChef\nChef"\nu3,Müller,\n',
    "occupations_nl.csv": f"{GERMAN}u2,bakker,\n",
    "ISCOGroups_en.csv": GROUPS,
}


def read_all(tmp_path, **files: str):
    for name, text in OF_EVERY_ONE.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    rejected = RejectedRows()
    paths = {name: str(tmp_path / file) for name, file in files.items()}
    params = taxonomy_params("esco", {"groups": str(tmp_path / "ISCOGroups_en.csv"), **paths})
    return esco.read(params, rejected), rejected


def test_a_file_a_language_with_the_groups_of_the_file_that_has_them(tmp_path) -> None:
    """The language is that of the name in `files`, or of the file's own."""
    names = {"occupations": "de", "occupations_nl": "nl", "occupations_en": "en"}
    files = {name: f"occupations_{language}.csv" for name, language in names.items()}
    taxonomy, rejected = read_all(tmp_path, **files)
    assert taxonomy.in_languages([]).aliases().rows() == [
        ("u1", "cook", "en", True),
        ("u1", "Koch", "de", True),
        ("u1", "Chef", "de", False),
        ("u1", "Köchin", "de", False),
        ("u1", "chef", "en", False),
        ("u2", "baker", "en", True),
        ("u2", "bakker", "nl", True),
    ]
    assert taxonomy.codes == {key: ["5", "51", "512", "5120"] for key in ("u1", "u2")}
    assert rejected.refused == [
        ("occupations_de.csv", 2, "duplicate title", "Chef"),
        ("occupations_de.csv", 5, "occupation without a group in any file", "u3,Müller,"),
    ]
    assert rejected.errors == 0
    assert rejected.rows["occupations_en.csv"] == 2


def test_files_of_languages_that_do_not_fit_are_explained(tmp_path) -> None:
    message = r"none of occupations_de\.csv has the column 'iscoGroup'"
    with pytest.raises(IngestError, match=message):
        read_all(tmp_path, occupations="occupations_de.csv")
    with pytest.raises(IngestError, match=r"occupations_fr\.csv is missing\..*European Commission"):
        read_all(tmp_path, occupations="occupations_en.csv", occupations_fr="occupations_fr.csv")
    with pytest.raises(IngestError, match=r"occupations_en\.csv has .*'en' already; name one file"):
        read_all(tmp_path, occupations="occupations_en.csv", occupations_en="occupations_en.csv")
    with pytest.raises(IngestError, match=r"missing \['occupations'\]"):
        read_all(tmp_path)
