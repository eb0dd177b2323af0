"""What a stage counted, in words."""

from __future__ import annotations

import pytest

from tasks.io.command import print_counts


def test_counts_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    """A line for what stands together; nothing for what is empty."""
    counts = {"pairs": 434135, "share": 0.25, "left_out": {}, "mined": {"kept": 7, "by_part": {}}}
    print_counts({**counts, "titles": {"manual": {"is_a_title": 1, "kept": 2}, "file": "a.csv"}})
    assert capsys.readouterr().out.splitlines() == [
        "pairs 434,135, share 0.25",
        "mined: kept 7",
        "titles: file a.csv",
        "titles, manual: is a title 1, kept 2",
    ]
