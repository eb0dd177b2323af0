"""The two readings of a title."""

import tracemalloc
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from models.text.titles import (
    DOTTED,
    KEPT_PUNCTUATION,
    LONGEST,
    clean_title,
    normalize_cleaned,
    normalize_title,
    shortened,
)

MARKS = [chr(point) for point in range(0x300, 0x370)] + [
    *("\u0345", "\u1fa9", "\u1100", "\u1161", "-", "'", "e", "Ω", ".", ".")
]
EIGHTEEN = "\ufdfa"  # one character that NFKC makes 18
TEXT = st.one_of(st.text(max_size=12), st.text(st.sampled_from(MARKS), max_size=6))


@pytest.mark.parametrize(
    ("raw", "cleaned", "normalized"),
    [
        ("  Java\t Developer\n(m/w/d) ", "java developer (m/w/d)", "java developer m/w/d"),
        ("C.E.O. / (R.N.), G.P, C.F.O", "ceo / (rn), gp, cfo", "ceo / rn gp cfo"),
        ("e.V. a.b.cd node.js A.", "ev a.b.cd node.js a.", "ev a.b.cd node.js a."),
        ("C++ / C# & .NET!", "c++ / c# & .net!", "c++ / c# & .net"),
        ("co-pilot", "co-pilot", "copilot"),
        ("STRASSENBAUER", "strassenbauer", "strassenbauer"),
        ("Straßenbauer", "strassenbauer", "strassenbauer"),  # casefold, not lower
        ("ﬁtter ①", "fitter 1", "fitter 1"),  # NFKC
        ("a\u00a0b\u3000c\u0085d", "a b c d", "a b c d"),
        ("nurse – «night»", "nurse – «night»", "nurse night"),
        ("$ ^ ~ `", "$ ^ ~ `", "$ ^ ~ `"),  # symbols are no punctuation
        ("— , ;", "— , ;", ""),
        ("", "", ""),
        ("👩‍🍳 cook", "👩‍🍳 cook", "👩‍🍳 cook"),
        ("e-\u0301", "e-\u0301", "é"),  # they meet once the hyphen is gone
    ],
)
def test_rules(raw: str, cleaned: str, normalized: str) -> None:
    assert clean_title(raw) == cleaned
    assert normalize_title(raw) == normalized


@given(TEXT)
@example("\u1f80\u0304")  # casefolding takes it apart, and the parts compose anew
@example("e-\u0301")
def test_twice_is_once(raw: str) -> None:
    cleaned, normalized = clean_title(raw), normalize_title(raw)
    assert clean_title(cleaned) == cleaned
    assert normalize_title(normalized) == normalized
    assert normalize_title(cleaned) == normalized


@given(TEXT)
def test_case_and_outer_space_do_not_count(raw: str) -> None:
    assert normalize_title(f" {raw}\n") == normalize_title(raw)
    assert clean_title(raw.upper().casefold()) == clean_title(raw.upper())


@given(st.text(max_size=40))
def test_a_usual_title_is_not_shortened(raw: str) -> None:
    assert shortened(raw) == raw


@pytest.mark.parametrize("length", [LONGEST, LONGEST + 1, 10**7])
@pytest.mark.parametrize("letter", ["x", EIGHTEEN, "a ", " ", "e\u0301", "a.", "\u0130"])
def test_a_long_title_is_cut_before_it_is_read_and_after(length: int, letter: str) -> None:
    raw = letter * length
    assert len(shortened(raw)) <= LONGEST * len(letter)
    tracemalloc.start()
    cleaned, normalized = clean_title(raw), normalize_title(raw)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20
    assert max(len(cleaned), len(normalized)) <= LONGEST
    assert clean_title(cleaned) == cleaned
    assert normalize_title(cleaned) == normalized == normalize_title(normalized)


def test_runs_of_white_space_count_as_one_character() -> None:
    raw = "\n" * 3 * LONGEST + "night" + " " * 2 * LONGEST + "nurse"
    assert clean_title(raw) == "night nurse"


def cleaned_alone(raw_title: str) -> str:
    """Clean one title, step by step."""

    def folded(text: str) -> str:
        return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())

    spaced = " ".join(folded(shortened(raw_title)).split())[:LONGEST].rstrip()
    return DOTTED.sub(lambda letters: folded(letters.group().replace(".", "")), spaced)


PIECES = st.sampled_from([*"aé\n\r\u2028 _-.#/ß你\ud800ﷺ", "e\u0301", "\u0301", "A.", "a.b.", "İ"])


@given(st.lists(st.lists(PIECES | st.characters(), max_size=8).map("".join), max_size=5))
def test_many_titles_are_read_as_one_is(raw_titles: list[str]) -> None:
    titles = [*map(clean_title, raw_titles)]
    assert titles == [*map(cleaned_alone, raw_titles)]
    for title, normalized in zip(titles, normalize_cleaned(titles), strict=True):
        kept = (
            sign
            for sign in title
            if sign in KEPT_PUNCTUATION or unicodedata.category(sign)[0] != "P"
        )
        assert normalized == cleaned_alone("".join(kept))
