"""Pairs of phrases: induction by hand and by brute force, and the two formats of the manual set."""

from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from published import DATA, needs

from tasks.io.frames import check
from tasks.pipeline.synonyms.synonym_pairs import RULES, induce, read_synonyms
from tasks.tables.rejected import RejectedRows, require_few_refused
from tasks.tables.source_files import IngestError

Passed = dict[tuple[str, str, str], int]


def induced(
    rows: list[tuple[str, str]], others: set[str] | None = None, shared: int = 2, words: int = 2
) -> tuple[Passed, dict[str, int]]:
    """From (occupation, normalized title), and titles that stand outside the training titles."""
    schema = {"occupation_id": pl.String, "normalized": pl.String}
    titles = pl.DataFrame(rows, schema=schema, orient="row")
    taxonomy = {title for _, title in rows} | (others or set())
    frame, counts = induce(titles, taxonomy, shared, words)
    columns = {"occupation_id": pl.String, "phrase": pl.String, "replacement": pl.String}
    check(frame, columns | {"contexts": pl.UInt32}, "passed")
    return {(one, phrase, other): n for one, phrase, other, n in frame.iter_rows()}, counts


BY_HAND = [
    ("dev", "c++ developer, c++ programmer, java developer, java programmer, lead r&d"),
    ("dev", "senior web developer, senior web coder, lead architect of systems"),
    ("cook", "pastry cook, pastry chef, chef, c++ cook"),
]


def test_worked_by_hand() -> None:
    """Eight candidates, three of which pass.

    dev, after "c++" and after "java": developer = programmer, in 2 contexts. Before "developer":
    c++ = java, c++ = "senior web", java = "senior web". Before "programmer": c++ = java again.
    After "senior web": coder = developer; after "senior" alone the remainders "web developer" and
    "web coder" have "web" in common, so they are none. After "lead": "architect of systems" = r&d.
    cook, after "pastry": chef = cook. Before "cook": c++ = pastry. In all 1 + 3 + 1 + 1 + 2 = 8.
    chef is a title: 1 isolated. A + or & stands in three with c++ and in r&d: 4 (the part of three
    words is refused for its partner first). So 8 - 1 - 4 = 3 pass.
    """
    rows = [(one, title) for one, titles in BY_HAND for title in titles.split(", ")]
    passed, counts = induced(rows)
    pairs = {("coder", "developer"): 1, ("developer", "programmer"): 2, ("java", "senior web"): 1}
    assert passed == {("dev", *pair): contexts for pair, contexts in pairs.items()}
    assert counts == {"candidates": 8, "isolated": 1, "special_characters": 4, "too_long": 0}


def test_letters_of_any_script_are_not_special() -> None:
    """Vowel signs of Devanagari are marks, not letters, and stand in nearly every word."""
    rows = [("x", "मुख्य शिक्षक"), ("x", "मुख्य अध्यापिका")]
    rows += [("y", "ältere köchin"), ("y", "ältere bäckerin")]
    assert len(induced(rows)[0]) == 2


TITLE = st.lists(st.sampled_from(["a", "b", "c", "d", "e&"]), min_size=1, max_size=5).map(" ".join)
ROWS = st.lists(st.tuples(st.sampled_from("xy"), TITLE), min_size=3, max_size=24)


@pytest.mark.thorough
@given(ROWS, st.sets(TITLE, max_size=3), st.integers(1, 3), st.integers(1, 3))
@settings(max_examples=60)
def test_all_pairs_by_brute_force(rows, others, max_shared, max_part) -> None:
    """Every two titles: words counted in both; if these begin or end both, the rests are a pair."""
    taxonomy = {title for _, title in rows} | others
    contexts: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for (occupation, one), (occupation_two, two) in combinations(sorted(set(rows)), 2):
        left, right = one.split(), two.split()
        n = (Counter(left) & Counter(right)).total()
        if occupation == occupation_two and 1 <= n <= max_shared and n < min(len(left), len(right)):
            for shared, parts in (
                ((left[:n], right[:n]), (left[n:], right[n:])),
                ((left[-n:], right[-n:]), (left[:-n], right[:-n])),
            ):
                if shared[0] == shared[1]:
                    phrase, replacement = sorted(map(" ".join, parts))
                    contexts[occupation, phrase, replacement].add(" ".join(shared[0]))
    expected: Passed = {}
    failed: Counter[str] = Counter()
    for key, shared_words in contexts.items():
        parts_of_pair = key[1:]
        if set(parts_of_pair) & taxonomy:
            failed["isolated"] += 1
        elif "&" in "".join(parts_of_pair):
            failed["special_characters"] += 1
        elif max(len(phrase.split()) for phrase in parts_of_pair) > max_part:
            failed["too_long"] += 1
        else:
            expected[key] = len(shared_words)
    passed, counts = induced(rows, others, max_shared, max_part)
    assert passed == expected
    assert list(passed) == sorted(expected)
    assert counts == {"candidates": len(contexts)} | {rule: failed[rule] for rule in RULES}


THESAURUS = DATA / "synonyms/synonym_job_titles_for_search.txt"


def read(
    *paths: Path, reader: str = "table", **columns: str
) -> tuple[list[tuple[str, str]], RejectedRows]:
    rejected = RejectedRows()
    return read_synonyms(reader, paths, columns, rejected), rejected


def written(tmp_path: Path, text: str, reader: str) -> tuple[list[tuple[str, str]], RejectedRows]:
    path = tmp_path / "synonyms.csv"
    path.write_text(text, encoding="utf-8", newline="")
    return read(path, reader=reader)


def test_table(tmp_path: Path) -> None:
    """Normalize, keep each pair once whichever way round, and refuse others with a reason."""
    rows = ["Cook,Chef de  Partie", "chef de partie,cook", ",cook", "cook,-", "cook,COOK!"]
    rows += ["a,b,c", "R&D man,developer"]
    pairs, rejected = written(tmp_path, "\n".join(["term,synonym", *rows, ""]), "table")
    assert pairs == [("cook", "chef de partie"), ("r&d man", "developer")]
    assert rejected.refused == [
        ("synonyms.csv", 3, "duplicate row", "chef de partie,cook"),
        ("synonyms.csv", 4, "empty term", ",cook"),
        ("synonyms.csv", 5, "empty synonym", "cook,-"),
        ("synonyms.csv", 6, "term and synonym are the same", "cook,COOK!"),
        ("synonyms.csv", 7, "wrong number of fields", "a,b,c"),
    ]
    assert rejected.rows == {"synonyms.csv": 7}


def test_thesaurus(tmp_path: Path) -> None:
    """End lines as the publisher's do; a term without another name is no fault."""
    text = "cook, line cook, chef => cook; baker => baker; access, access services => access_jobs; "
    text += "tax man => tax_inspector; no arrow; a => b => c; x, , y => x; z =>; \udcff => f; "
    lines = f"{text}chef => cook; ".split("; ")
    path = tmp_path / "thesaurus.txt"
    path.write_bytes("\r\n".join(lines).encode("utf-8", "surrogateescape"))
    pairs, rejected = read(path, reader="thesaurus")
    named = [("cook", "line cook"), ("cook", "chef"), ("access", "access services")]
    assert pairs == [*named, ("tax inspector", "tax man"), ("x", "y")]
    assert [(line, reason) for _, line, reason, _ in rejected.refused] == [
        (5, "not exactly one =>"),
        (6, "not exactly one =>"),
        (7, "empty synonym"),
        (8, "empty term"),
        (9, "bytes that are not text"),
        (10, "duplicate row"),
    ]


def test_other_names_of_columns_and_none_at_all(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("term;synonym;wanted\nx;cook;chef\n", encoding="utf-8")
    assert read(path, term="synonym", synonym="wanted")[0] == [("cook", "chef")]
    assert read(tmp_path / "absent", reader="none")[0] == []
    with pytest.raises(IngestError, match=r"synonyms\.columns: missing \[\], unknown \['title'\]"):
        read(path, title="x")


def test_several_files_in_their_order(tmp_path: Path) -> None:
    for name, rows in (("b.csv", "cook,chef\n"), ("a.csv", "baker,bread maker\nchef,cook\n")):
        (tmp_path / name).write_text(f"term,synonym\n{rows}", encoding="utf-8")
    pairs, rejected = read(tmp_path / "b.csv", tmp_path / "a.csv")
    assert pairs == [("cook", "chef"), ("baker", "bread maker")]
    assert rejected.refused == [("a.csv", 3, "duplicate row", "chef,cook")]


def test_the_wrong_reader_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match="no column"):
        written(tmp_path, "a, b => b\n", "table")
    pairs, rejected = written(tmp_path, "term,synonym\na,b\n", "thesaurus")
    assert pairs == []
    with pytest.raises(IngestError, match=r"check synonyms\.reader"):
        require_few_refused(rejected, 0.01, "synonyms")


@pytest.mark.parametrize(("reader", "text"), [("table", "term,synonym\n"), ("thesaurus", "")])
def test_an_empty_file_is_none_and_a_missing_one_an_error(tmp_path, reader, text) -> None:
    pairs, rejected = written(tmp_path, text, reader)
    assert pairs == []
    require_few_refused(rejected, 0.0, "synonyms")
    with pytest.raises(IngestError, match=r"synonyms\.file"):
        read(tmp_path / "none.csv", reader=reader)


@needs(THESAURUS)
def test_the_published_thesaurus() -> None:
    """Count 21,835 names in 8,377 lines, the term one of them but in 9: 21,835 - 8,368 = 13,467."""
    pairs, rejected = read(THESAURUS, reader="thesaurus")
    assert rejected.refused == []
    assert sum(rejected.rows.values()) == 8_377
    assert len(pairs) == 13_467
    assert ("cost accountant", "budget accountant") in pairs
    assert ("access", "access services") in pairs
    assert not any(term.endswith(" jobs") for term, _ in pairs)
    lines = THESAURUS.read_text(encoding="utf-8").splitlines()
    names = sum(line.split("=>")[0].count(",") + 1 for line in lines)
    assert names - (8_377 - 9) == 13_467
