"""Words of titles, counted by hand."""

from __future__ import annotations

import pytest

from models.search.words.title_words import TitleWords, forms_of


def test_counts_by_hand() -> None:
    """Of each title the first part's ends count; a lone word begins nothing."""
    words = TitleWords.of(["head nurse (ward)", "nurse", "nurse", "nurse nurse", "!?"])
    assert words.counts == {"head": 1, "nurse": 3, "ward": 1}
    assert words.endings == {"nurse": 3}
    assert words.beginnings == {"head": 1, "nurse": 1}


@pytest.mark.parametrize(
    ("label", "forms"),
    [
        ("Koch/Köchin", ["koch", "köchin"]),
        ("commis / commise", ["commis", "commise"]),
        ("baker", ["baker"]),
        ("/", []),
    ],
)
def test_forms_of_a_label(label: str, forms: list[str]) -> None:
    assert forms_of(label) == forms
