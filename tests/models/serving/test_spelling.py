"""Abbreviations and misspelt words in the spelling of the taxonomy."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from served_toy import toy_normalizer
from word_oracle import is_an_edit

from models.serving.spelling import NearWords, SpellingCorrector, read_abbreviations
from models.text.titles import clean_title
from models.text.words import PARTS, TitleWords
from models.text.words import WORDS as WORD
from tasks.release.model_package.phrases import check_abbreviations
from tasks.release.model_package.run_files import ABBREVIATIONS


def nothing_known(titles: Sequence[str]) -> np.ndarray:
    return np.zeros(len(titles), bool)


def test_words_alone_are_written_out() -> None:
    short = {"rgn": "registered general nurse", "mgr": "manager"}
    written_out = SpellingCorrector(TitleWords({}, {}, {}), nothing_known, short)
    assert written_out(["rgn/ward mgr. nights", "rgns mgrx"]) == [
        "registered general nurse/ward manager. nights",
        "rgns mgrx",
    ]


def test_a_title_is_searched_written_out_unless_the_taxonomy_has_it() -> None:
    normalizer = toy_normalizer()
    known = replace(normalizer, abbreviations={"bm": "bread maker", "keeper": "nurse"})
    assert normalizer.predict(["B.M."])[0].occupation_id != "baker"
    assert known.predict(["B.M."])[0].occupation_id == "baker"
    assert known.predict(["keeper"])[0].matched_title == "Keeper"


def test_our_own_table_is_right() -> None:
    check_abbreviations(ABBREVIATIONS)
    meanings = read_abbreviations(ABBREVIATIONS)
    assert len(meanings) > 200 and meanings["rgn"] == "registered general nurse"
    assert not {word for words in meanings.values() for word in words.split()} & {"mgr", "asst"}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a.b.c d,what,en", "line 2.*one word"),
        ("rn,registered nurse,en\nRN,nurse,en", "line 3: 'rn' has a meaning already"),
        ("rn,registered nurse", "line 2: 3 fields; its columns are abbreviation"),
        ("rn,registered nurse,en,more", "line 2: 4 fields"),
    ],
)
def test_a_wrong_table_is_refused(rows: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text(f"abbreviation,meaning,language\n{rows}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        check_abbreviations(file)


ENDINGS = {"teacher": 300, "secretary": 20, "tracer": 6, "barber": 4, "enginer": 2, "engineer": 250}
BEGINNINGS = {"techno": 1, "maths": 9}
COUNTS = ENDINGS | BEGINNINGS | {"dental": 7, "rental": 9, "casting": 40, "casing": 2, "it": 1}
TITLES = ["dental secretary", "casting director", "casing engineer", "it teacher", "barber"]
SPELLING = SpellingCorrector(
    TitleWords({**COUNTS, "director": 9}, ENDINGS, BEGINNINGS),
    lambda titles: np.array([title in TITLES for title in titles], bool),
    {"rn": "night nurse"},
)


@pytest.mark.parametrize(
    ("title", "meant"),
    [
        ("techer", "teacher"),
        ("maths techer", "maths teacher"),
        ("techer (maths) / secreary", "teacher (maths) / secretary"),
        ("teachre - secretaryy", "teacher - secretary"),  # swapped, and one too many
        ("treacher", "teacher"),
        ("techer assistant", "techer assistant"),  # no last word
        ("deacher", "deacher"),  # another first letter
        ("tacer", "tracer"),
        ("enginer", "engineer"),  # known, and a hundred times rarer
        ("techno", "techno"),
        ("tch", "tch"),
        ("", ""),
    ],
)
def test_last_words(title: str, meant: str) -> None:
    assert SPELLING([title, "x", title]) == [meant, "x", meant]


@pytest.mark.parametrize(
    ("title", "meant"),
    [
        ("detal secretary", "dental secretary"),
        ("detal secretarry", "dental secretary"),
        ("lental secretary", "lental secretary"),  # "rental" is more frequent, and makes no title
        ("barbr", "barber"),  # ends too few titles to be meant elsewhere
        ("ward barbr", "ward barbr"),
        ("costing manager", "costing manager"),
        ("casting engineer", "casting engineer"),  # known, and no misspelt "casing"
        ("xt teacher", "xt teacher"),  # too short
        ("detal secretary zz detal", "detal secretary zz detal"),  # three unknown words
    ],
)
def test_titles_of_the_taxonomy(title: str, meant: str) -> None:
    assert SPELLING([title, "x", title]) == [meant, "x", meant]


def by_loop(title: str) -> str:
    """Correct one title: abbreviations, last words of parts, then all that no title has."""
    title = WORD.sub(lambda word: SPELLING.meanings.get(word.group(), word.group()), title)

    def meant(word: str) -> str:
        known = ENDINGS.get(word, 0) + BEGINNINGS.get(word, 0)
        least = max(5, 100 * known)
        often = {one: count for one, count in ENDINGS.items() if count >= least}
        likely = {one: count for one, count in often.items() if one[0] == word[0]}
        return nearest(word, likely) if len(word) >= 5 and word.isalpha() else word

    last = re.compile(rf"{WORD.pattern}(?=\s*$|\s*(?:{PARTS.pattern}))")
    title = last.sub(lambda word: meant(word.group()), title)
    unknown = [word for word in WORD.findall(title) if word not in SPELLING.words.counts]
    if not unknown or len(unknown) > 2 or min(map(len, unknown)) < 4:
        return title
    counts = SPELLING.words.counts
    whole = WORD.sub(
        lambda word: word.group() if word.group() in counts else nearest(word.group(), counts),
        title,
    )
    return whole if whole in TITLES else title


def nearest(word: str, counts: Mapping[str, int]) -> str:
    """Return the most frequent word that one edit makes of another, the first of equal ones."""
    alike = sorted(one for one in counts if one != word and is_an_edit(one, word))
    return max(alike, key=counts.__getitem__, default=word)


PIECES = st.sampled_from(
    [
        *("techer", "enginer", "detal", "secretary", "secreary", "barbr", "casting", "rn", "maths"),
        *("é", " ", " - ", "-", "/", "(", ")", ", ", "'", "+", "xt"),
    ]
)


@given(st.lists(st.lists(PIECES, max_size=6).map("".join).map(clean_title), max_size=5))
def test_many_titles_equal_the_loop(titles: list[str]) -> None:
    assert SPELLING(titles) == [*map(by_loop, titles)]


LETTERS = "abž"
WORDS = st.text(LETTERS, min_size=1, max_size=5)


def edits(word: str) -> set[str]:
    parts = [(word[:index], word[index:]) for index in range(len(word) + 1)]
    return {
        *(start + end[1:] for start, end in parts),
        *(start + end[1:2] + end[:1] + end[2:] for start, end in parts),
        *(start + letter + end for start, end in parts for letter in LETTERS),
        *(start + letter + end[1:] for start, end in parts for letter in LETTERS),
    } - {word}


@given(st.dictionaries(WORDS, st.integers(1, 4)), st.lists(WORDS, min_size=1), st.integers(0, 4))
def test_the_best_is_the_most_frequent_that_edits_make(known, words, least) -> None:
    """The first letter has to agree where a least count is asked for."""
    best = NearWords.of(known).best(dict.fromkeys(words, least))
    for word in words:
        alike = (one for one in sorted(edits(word) & known.keys()) if known[one] >= least)
        likely = [one for one in alike if not least or one[0] == word[0]]
        assert best.get(word) == max(likely, key=known.__getitem__, default=None)
