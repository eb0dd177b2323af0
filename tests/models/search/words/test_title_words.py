"""Words of titles, counted by hand."""

from __future__ import annotations

from models.search.words.title_words import TitleWords


def test_counts_by_hand() -> None:
    """Of each title the first part's ends count; a lone word begins nothing."""
    words = TitleWords.of(["head nurse (ward)", "nurse", "nurse", "nurse nurse", "!?"])
    assert words.counts == {"head": 1, "nurse": 3, "ward": 1}
    assert words.endings == {"nurse": 3}
    assert words.beginnings == {"head": 1, "nurse": 1}
