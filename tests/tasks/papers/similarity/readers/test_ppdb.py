"""The adjacency list in small, against plain loops, and as published."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from published import DATA, needs

from tasks.io.frames import check
from tasks.papers.similarity.readers.ppdb import PARAPHRASES, Paraphrases, read_ppdb
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import IngestError

PPDB = DATA / "ppdb/ppdb-xl.txt"


def written(path: Path, text: str) -> tuple[Paraphrases, RejectedRows]:
    path.write_text(text, encoding="utf-8", newline="")
    rejected = RejectedRows()
    return read_ppdb(path, rejected), rejected


def test_golden(tmp_path: Path) -> None:
    """Count 9 links: `b a`, the second `a c` and `c a` stood before, `b b` is one word.

    Only spaces separate: U+001D and the no-break space are white space, yet belong to words.
    """
    lines = ["z a", 'b "c', "a b c c", "b a b", "alone ", "", "c a", "<\xa0x \x1d", ""]
    paraphrases, rejected = written(tmp_path / "ppdb.txt", "\n".join(lines))
    assert check(paraphrases.frame, PARAPHRASES, "ppdb").rows() == [
        ("z", "a"),
        ("b", '"c'),
        ("a", "b"),
        ("a", "c"),
        ("<\xa0x", "\x1d"),
    ]
    assert paraphrases[1:] == (9, 1, 3)
    assert rejected.refused == [
        ("ppdb.txt", 5, "empty paraphrase", "alone "),
        ("ppdb.txt", 6, "empty row", ""),
    ]


@given(
    st.lists(st.lists(st.sampled_from("abcdé"), min_size=2, max_size=5), min_size=1, max_size=12)
)
@settings(derandomize=True, database=None, deadline=None, max_examples=60)
def test_pairs_are_those_of_a_plain_loop(
    tmp_path_factory: pytest.TempPathFactory, lines: list[list[str]]
) -> None:
    """Keep each unordered pair where it stands first; links = pairs + self-links + repeated."""
    first: dict[frozenset[str], tuple[str, str]] = {}
    own = total = 0
    for head, *others in lines:
        for paraphrase in others:
            total += 1
            own += head == paraphrase
            if head != paraphrase:
                first.setdefault(frozenset((head, paraphrase)), (head, paraphrase))
    path = tmp_path_factory.mktemp("ppdb") / "ppdb.txt"
    if not first:
        with pytest.raises(IngestError, match=r"holds no pair of words\. PPDB"):
            written(path, "\n".join(map(" ".join, lines)))
        return
    paraphrases, _ = written(path, "\n".join(map(" ".join, lines)))
    assert paraphrases.frame.rows() == list(first.values())
    assert paraphrases[1:] == (total, own, total - own - len(first))


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match=r"missing\. PPDB .*paraphrase\.org"):
        read_ppdb(tmp_path / "none.txt", RejectedRows())


@pytest.mark.thorough
@needs(PPDB)
def test_published() -> None:
    """Count 102,902 heads, 374,555 links, all but one both ways: 374,554 / 2 + 1 pairs."""
    rejected = RejectedRows()
    paraphrases = read_ppdb(PPDB, rejected)
    assert rejected.refused == []
    assert rejected.rows == {"ppdb-xl.txt": 102_902}
    assert paraphrases[1:] == (374_555, 0, 187_277)
    assert paraphrases.frame.height == 374_554 // 2 + 1 == 187_278
    assert paraphrases.frame.rows()[:2] == [("fawn", "crawl"), ("reallocations", "re-allocations")]
