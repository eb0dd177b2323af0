"""O*NET's format in small; the published files themselves are read in test_published.py."""

import pytest
from params_of import taxonomy_params

from tasks.pipeline.ingest.taxonomies import onet
from tasks.pipeline.ingest.taxonomies.onet import soc_chain
from tasks.tables.rejected import NOTICES, RejectedRows

HEAD = "O*NET-SOC Code\tReported Job Title\tShown in My Next Move\n"
FILES = {
    "occupations": "O*NET-SOC Code\tTitle\tDescription\n"
    '11-1011.00\tChief Executives\tA "quote.\n'
    "11-1021.0\tGeneral Managers\tThe code lacks a digit.\n",
    "alternates": "O*NET-SOC Code\tAlternate Title\tShort Title\tSource(s)\n"
    "11-1011.00\tChief Executive Officer (CEO)\tCEO\t02\n"
    "11-1011.00\tPresident\tn/a\t02\n"
    "11-1011.00\tChief (CEO)\tCEO\t02\n"
    "11-1021.00\tGM\tn/a\t02\n",
    "reported": f"{HEAD}11-1011.00\tPRESIDENT\tY\n11-1011.00\tBoss\n",
}
ASKED = f"{HEAD}11-1011.00\tPRESIDENT!\tY\n11-1011.00\tCEO\tY\n11-1011.00\tChief executives\tN\n"


def read(tmp_path, *names: str):
    for name in names:
        (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    rejected = RejectedRows()
    paths = {name: str(tmp_path / name) for name in names}
    return onet.read(taxonomy_params("onet", paths), rejected), rejected


def test_golden(tmp_path) -> None:
    taxonomy, rejected = read(tmp_path, *FILES)
    titles = ["Chief Executives", "Chief Executive Officer (CEO)", "CEO", "President"]
    assert list(taxonomy.titles["11-1011.00"].values()) == [*titles, "Chief (CEO)"]
    assert rejected.refused == [
        ("occupations", 3, "malformed code", FILES["occupations"].splitlines()[2]),
        ("alternates", 4, "duplicate title", "CEO"),
        ("alternates", 5, "unknown occupation", "11-1021.00\tGM\tn/a\t02"),
        ("reported", 2, "duplicate title", "11-1011.00\tPRESIDENT\tY"),
        ("reported", 3, "wrong number of fields", "11-1011.00\tBoss"),
    ]


def test_titles_are_optional(tmp_path) -> None:
    taxonomy, _ = read(tmp_path, "occupations")
    assert taxonomy.aliases().rows() == [("11-1011.00", "Chief Executives", "en", True)]


def test_titles_left_out_are_no_alias_but_a_label_stays(tmp_path) -> None:
    """As alternate and as short titles, judged normalized; what goes is no error."""
    (tmp_path / "left_out").write_text(ASKED, encoding="utf-8")
    read(tmp_path, "occupations", "alternates")
    rejected = RejectedRows()
    names = ("occupations", "alternates", "left_out")
    paths = {name: str(tmp_path / name) for name in names}
    taxonomy = onet.read(taxonomy_params("onet", paths), rejected)
    titles = ["Chief Executives", "Chief Executive Officer (CEO)", "Chief (CEO)"]
    assert list(taxonomy.titles["11-1011.00"].values()) == titles
    went = [(line, text) for _, line, reason, text in rejected.refused if reason in NOTICES]
    assert went == [(2, "CEO"), (3, "11-1011.00\tPresident\tn/a\t02"), (4, "CEO")]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("11-1021.00", ["11-0000", "11-1000", "11-1020", "11-1021"]),
        ("15-1252.00", ["15-0000", "15-1200", "15-1250", "15-1252"]),
        ("15-2051.01", ["15-0000", "15-2000", "15-2050", "15-2051"]),
        ("31-1121.00", ["31-0000", "31-1100", "31-1120", "31-1121"]),
        ("51-5111.00", ["51-0000", "51-5100", "51-5110", "51-5111"]),
    ],
)
def test_soc_chain(code: str, expected: list[str]) -> None:
    """Follow the coding structure of the SOC 2018 manual, with its three longer minor groups."""
    assert soc_chain(code) == expected
