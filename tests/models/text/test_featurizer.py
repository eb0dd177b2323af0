"""Units of titles as ids, against loops over characters, n-grams and words."""

import json
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapes import check_fields

from models.text.featurizer import FIRST, PADDING, UNKNOWN, Featurizer, Vocabulary
from models.text.units import UnitSettings, code_points, segment_hashes

ANY = st.text(st.characters(exclude_categories=()), max_size=8)  # lone surrogates too
TITLES = st.lists(ANY | st.text("ab +.é", max_size=9), min_size=1, max_size=4)
CHARACTERS = UnitSettings("character", 4)
NGRAMS = UnitSettings("ngram", 6, (2, 3))
WORDS = UnitSettings("word", 2)
SUBWORDS = UnitSettings("subword", 3, (2, 4))


def characters_by_loop(title: str, units: UnitSettings) -> list[str]:
    return list(title[: units.max_length])


def ngrams_by_loop(title: str, units: UnitSettings) -> list[str]:
    framed = f" {title[: units.max_length]} "
    return [framed[i : i + n] for n in units.orders for i in range(len(framed) - n + 1)]


def words_by_loop(title: str, units: UnitSettings) -> list[str]:
    """A full stop belongs to a word where a letter or digit follows."""
    import unicodedata

    words, word = [], ""
    for index, sign in enumerate(title):
        after = title[index + 1 : index + 2]
        letter = [c.isalnum() or unicodedata.category(c)[0] == "M" for c in (sign, after) if c]
        if letter[0] or sign in "+#&" or (sign == "." and len(letter) > 1 and letter[1]):
            word += sign
        elif word:
            words.append(word)
            word = ""
    return [*words, *([word] if word else [])][: units.max_length]


def subwords_by_loop(title: str, units: UnitSettings) -> list[str]:
    words = [f" {word} " for word in words_by_loop(title, units)]
    inside = [w[i : i + n] for w in words for n in units.orders for i in range(len(w) - n + 1)]
    whole = [word for word in words if len(word) > max(units.orders)]
    return [*inside, *whole, *map("".join, pairwise(words))]


LOOPS = {
    "character": characters_by_loop,
    "ngram": ngrams_by_loop,
    "word": words_by_loop,
    "subword": subwords_by_loop,
}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "units", [CHARACTERS, NGRAMS, WORDS, SUBWORDS], ids=lambda units: units.unit
)
@given(known=TITLES, titles=TITLES)
def test_equals_the_loop(units: UnitSettings, known: list[str], titles: list[str]) -> None:
    """Ids are positions in the sorted vocabulary; the order of a title's n-grams is not promised.

    Any text is read as it stands: it is cleaned where it comes in, not here.
    """
    loop = LOOPS[units.unit]
    featurizer = Featurizer.fit(known, [units])
    seen = sorted({unit for title in known for unit in loop(title, units)})
    assert list(featurizer.vocabularies[0].known) == seen
    ids = {unit: FIRST + index for index, unit in enumerate(seen)}
    (stream,) = featurizer(titles).streams
    check_fields(stream)
    for row, length, title in zip(stream.padded(), stream.lengths, titles, strict=True):
        wanted = [ids.get(unit, UNKNOWN) for unit in loop(title, units)]
        left_out = units.unit in ("ngram", "subword")
        if left_out:
            wanted = [id_ for id_ in wanted if id_ != UNKNOWN]
        assert Counter(row[:length].tolist()) == Counter(wanted or [PADDING])
        if not left_out:
            assert row[:length].tolist() == (wanted or [PADDING])
        assert not row[length:].any()


def test_frequent_units_only() -> None:
    """Of "aab", "ab", "b": b stands 3 times, a 3 times, and " a" in two titles."""
    titles = ["aab", "ab", "b"]
    assert Vocabulary.fit(titles, UnitSettings("character", 9, min_count=3)).known == ("a", "b")
    most = Vocabulary.fit(titles, UnitSettings("ngram", 9, (2, 3), most=1))
    assert most.known == ("ab ", "b ")  # "b " three times; "ab " twice


def test_hashed_ids_need_no_vocabulary() -> None:
    units = UnitSettings("ngram", 9, (2, 3), buckets=50)
    featurizer = Featurizer.fit(["nurse"], [units])
    assert featurizer.vocabularies[0].known == ()
    assert featurizer.sizes == (FIRST + 50,)
    (ids,) = featurizer(["nurse", "pilot"]).streams
    assert ids.lengths.tolist() == [11, 11]
    assert ids.flat.min() >= FIRST and ids.flat.max() < FIRST + 50
    again = featurizer(["pilot"]).streams[0].flat
    assert again.tolist() == ids.flat[11:].tolist()  # whatever stands before it


def test_several_kinds_of_units_and_json() -> None:
    featurizer = Featurizer.fit(["pastry chef", "nurse"], [CHARACTERS, NGRAMS, WORDS, SUBWORDS])
    assert Featurizer.from_values(json.loads(json.dumps(featurizer.values()))) == featurizer
    streams = featurizer(["pastry chef de partie"]).streams
    assert [stream.lengths.tolist() for stream in streams] == [[4], [13], [2], [24]]


def test_what_is_cut_is_flagged() -> None:
    featurizer = Featurizer.fit(["ab"], [UnitSettings("character", 100)])
    read = featurizer(["ab" * 5000, "a" * 100])
    assert read.streams[0].padded().shape == (2, 100)
    assert read.truncated.tolist() == [True, False]
    words = Featurizer.fit(["a b"], [WORDS])
    assert words(["a b", "a b a"]).truncated.tolist() == [False, True]


def test_no_titles() -> None:
    for stream in Featurizer.fit([], [CHARACTERS, NGRAMS, WORDS, SUBWORDS])([]).streams:
        assert stream.padded().shape == (0, 1)
        assert stream.flat.dtype == np.int64


@given(st.lists(st.text("abc", min_size=1, max_size=5), min_size=2, max_size=6, unique=True))
def test_a_hash_is_of_the_characters_alone(units: list[str]) -> None:
    """Wherever a unit stands, and never that of another one."""
    text = "".join(units) + "".join(reversed(units))
    ends = np.cumsum([len(unit) for unit in [*units, *reversed(units)]])
    starts = ends - np.array([len(unit) for unit in [*units, *reversed(units)]])
    hashes = segment_hashes(code_points(text), starts, ends)
    assert hashes[: len(units)].tolist() == hashes[len(units) :][::-1].tolist()
    assert len(set(hashes.tolist())) == len(units)
