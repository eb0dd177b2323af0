"""The sample's three files."""

import pytest
from params_of import taxonomy_params

from tasks.pipeline.ingest.taxonomies import sample
from tasks.pipeline.ingest.taxonomies.sample import chain
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import IngestError

GOOD = {
    "occupations": "occupation_id,occupation_label,isco_code\ncook,cook,5120\n",
    "aliases": "occupation_id,title\ncook,line cook\n",
    "hierarchy": "isco_code,parent_code,label\n5,,service\n51,5,personal\n512,51,cooks\n"
    "5120,512,cooks\n",
}


def read(tmp_path, **files: str):
    for name, content in (GOOD | files).items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    rejected = RejectedRows()
    paths = {name: str(tmp_path / name) for name in GOOD}
    return sample.read(taxonomy_params("sample", paths), rejected), rejected


def test_golden(tmp_path) -> None:
    taxonomy, rejected = read(tmp_path)
    assert taxonomy.occupations().rows() == [("cook", "cook", ["5", "51", "512", "5120"])]
    titles = [("cook", "en", True), ("line cook", "en", False)]
    assert taxonomy.aliases().rows() == [("cook", *row) for row in titles]
    labels = [("5", "service"), ("51", "personal"), ("512", "cooks"), ("5120", "cooks")]
    assert taxonomy.labelled_groups().rows() == labels
    assert rejected.refused == []
    assert rejected.rows == {"occupations": 1, "aliases": 1, "hierarchy": 4}


def test_faults_are_refused_with_their_line(tmp_path) -> None:
    _, rejected = read(
        tmp_path,
        occupations=GOOD["occupations"] + "x,astronaut,9999\ncook,chef,5120\ncook,cook,5120\n",
        aliases=GOOD["aliases"] + "x,spaceman\ncook,\ncook, Line  Cook\ncook,line cook\n",
        hierarchy=GOOD["hierarchy"] + ",5,none\n51,5,again\n",
    )
    assert [refused[:3] for refused in rejected.refused] == [
        ("hierarchy", 6, "empty isco_code"),
        ("hierarchy", 7, "duplicate code"),
        ("occupations", 3, "code not in the hierarchy"),
        ("occupations", 4, "duplicate occupation"),
        ("occupations", 5, "duplicate row"),
        ("aliases", 3, "unknown occupation"),
        ("aliases", 4, "empty title"),
        ("aliases", 5, "duplicate title"),
        ("aliases", 6, "duplicate row"),
    ]


@pytest.mark.parametrize(
    ("parents", "expected"),
    [
        ({"1": "", "11": "1"}, ["1", "11"]),
        ({"11": "1"}, []),  # the parent is missing
        ({"1": "11", "11": "1"}, []),  # a ring
        ({}, []),
    ],
)
def test_chain(parents: dict[str, str], expected: list[str]) -> None:
    assert chain("11", parents) == expected


@pytest.mark.parametrize("files", [{}, {"occupations": "a"}, dict.fromkeys([*GOOD, "more"], "a")])
def test_wrong_file_names_are_explained(files: dict[str, str]) -> None:
    with pytest.raises(IngestError, match=r"missing \[.*\], unknown \[.*\]; this reader takes"):
        sample.read(taxonomy_params("sample", files), RejectedRows())
