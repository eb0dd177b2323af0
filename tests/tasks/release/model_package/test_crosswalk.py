"""Codes of other standards: the narrowest code that a file has, and files that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.release.model_package.crosswalk import crosswalk_codes

HEAD = "code,standard,other_code\n"


def codes_of(tmp_path: Path, rows: str, head: str = HEAD) -> list[list[str]]:
    file = tmp_path / "crosswalk.csv"
    file.write_text(head + rows, encoding="utf-8")
    return crosswalk_codes(file, ["baker", "nurse"], [["7", "75"], ["2", "22"]])


def test_the_narrowest_code_counts_for_each_standard(tmp_path: Path) -> None:
    rows = "7,SOC,51\n75,SOC,51-3\n7,NOC,63\nbaker,SOC,51-3011\nbaker,SOC,35-2021\n22,SOC,29\n"
    assert codes_of(tmp_path, rows) == [
        ["SOC: 51-3011", "SOC: 35-2021", "NOC: 63"],
        ["SOC: 29"],
    ]


@pytest.mark.parametrize(
    ("head", "rows", "said"),
    [
        ("code,other_code\n", "7,51\n", "no column standard"),
        (HEAD, "7,SOC,51\n75,,51-3\n", "line 3: a value is missing"),
        (HEAD, "1234,SOC,51\n", "none of its 1 codes"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, head: str, rows: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        codes_of(tmp_path, rows, head)
