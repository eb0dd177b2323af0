"""ESCO's format in small; the published file itself is read in test_published.py."""

import pytest
from params_of import taxonomy_params

from tasks.pipeline.ingest.taxonomies import esco
from tasks.pipeline.ingest.taxonomies.esco import isco_chain
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
        ("u1", "cook", True),
        ("u1", "chef", False),
        ("u1", "hash slinger", False),
        ("u2", "baker", True),
        ("u2", "B", False),
    ]
    assert taxonomy.codes["u1"] == ["5", "51", "512", "5120"]
    labels = [("5", "service"), ("51", "personal"), ("5120", "cooks")]
    assert taxonomy.labelled_groups().rows() == labels
    assert rejected.refused == [
        ("o.csv", 2, "duplicate title", "Cook"),
        ("o.csv", 6, "empty title", "-"),
    ]


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


def test_isco_chain() -> None:
    assert isco_chain("0110") == ["0", "01", "011", "0110"]
