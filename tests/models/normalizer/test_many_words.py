"""The compiled loops over words, units and qualifiers beside the code for one title."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from served_toy import embed, overrides_of, table, toy_normalizer

from models.normalizer.abbreviations import Abbreviations
from models.normalizer.answers.differences import Differences
from models.normalizer.answers.truncated_titles import are_truncated
from models.normalizer.bag import Bag
from models.normalizer.loops.title_lot import TitleLot, cleaned_titles
from models.normalizer.many_qualifiers import ManyQualifiers
from models.normalizer.many_words import ManyWords
from models.normalizer.normalizer import Normalizer
from models.normalizer.qualifiers import FoundQualifiers, Qualifiers
from models.search.calibration import Calibration
from models.search.stored_vectors import StoredVectors
from models.search.title_places import hashes_of
from models.search.words.respelling import Respelling
from models.search.words.title_words import WORDS as WORD
from models.search.words.title_words import TitleWords
from models.search.words.word_evidence import WordEvidence
from models.text.featurizer import Featurizer, Vocabulary
from models.text.titles import clean_title, normalize_title, shortened
from models.text.units import UnitSettings

ALIASES = sorted(
    [
        *("night nurse", "bus driver", "tram driver, nights", "hearse driver", "c++ developer"),
        *("r&d engineer", "head of sales - emea", "baker/pastry cook", "köchin", "o'neill's baker"),
        *(f"{word} worker" for word in ("dock", "farm", "steel", "youth", "social", "factory")),
        "pastry cook",
    ]
)
LABELS = np.array([["Koch/Köchin", "Night nurse", "", "(-)", "Bus drivers / Fahrer", "R&D"]])
WORDS = TitleWords.of(ALIASES)
RESPELLING = Respelling(WORDS, ALIASES)
SHORT = Abbreviations({"rn": "night nurse", "r&d": "research"})
MANY = ManyWords(RESPELLING, lambda titles: np.isin(titles, ALIASES), ALIASES, LABELS, SHORT)
PHRASES = {
    "seniority": ["head", "senior", "II"],
    "contract": ["nights", "part time", "# %", "#"],
    "location": ["Reading", "New York", "york", "Straße"],
    "neither": ["head office"],
    "no_job": ["retired"],
}
QUALIFIERS = Qualifiers(PHRASES)
PIECES = st.sampled_from(
    [
        *(*" -,./()'’&#+_²€£", " - ", "ß", "é", "e\u0301", "ﬁ", "İ", "٣", "😀", "\ud800"),
        *("driver", "drivr", "Nurse", "nrse", "wroker", "worker", "RN", "r&d", "50 %", "£ 12.50"),
        *("part time", "Part", "Reading", "reading", "New York", "II", "ii", "head", "office"),
        *("-nights", "20-30", "o’neill's", "c++", ".net", "pastri", "cok", "straße", "retired"),
        *ALIASES,
    ]
)
RAW = st.lists(PIECES | st.text(max_size=3), max_size=6).map("".join)
TITLES = st.lists(RAW.map(clean_title), max_size=6)
Unit = Literal["character", "word", "subword"]


@contextmanager
def loops(at_hand: bool = True) -> Iterator[None]:
    """Let the compiled loops read titles, or the code for one title."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("models.normalizer.text_kernels.kernels_at_hand", lambda: at_hand)
        yield


def test_titles_of_the_taxonomy_are_told_by_their_words() -> None:
    with loops():
        own = MANY.respelled(["pastri coook", "dock wroker"])
    assert [*own] == ["pastry cook", "dock worker"]


@given(TITLES)
@settings(max_examples=400)
def test_words_equal_those_of_one_title(titles: list[str]) -> None:
    closest = np.linspace(0.1, 0.9, len(titles)).astype(np.float32)
    rows = np.arange(len(titles))
    aliases, labels = rows * 7 % len(ALIASES), rows % LABELS.size
    texts = [ALIASES[place] for place in aliases], LABELS.reshape(-1)[labels].tolist()
    one = WordEvidence(WORDS)(titles, *texts, closest)
    with loops():
        assert MANY.word_evidence(titles, aliases, labels, closest).tolist() == one.tolist()
        spelled = MANY.respelled(titles)
    assert [*spelled] == [RESPELLING(MANY.abbreviations(title)) for title in titles]


@given(st.lists(RAW, max_size=6))
@settings(max_examples=400)
def test_qualifiers_equal_those_of_one_title(raw_titles: list[str]) -> None:
    with loops():
        many = ManyQualifiers(QUALIFIERS)(raw_titles)
    assert many.name_no_job.tolist() == [QUALIFIERS(title).names_no_job for title in raw_titles]
    for row, title in enumerate(raw_titles):
        own = [many.texts[(many.rows == row) & (many.kinds == kind)].tolist() for kind in range(3)]
        assert own == [*QUALIFIERS(title)[:3]]
    with loops(at_hand=False):
        one = ManyQualifiers(QUALIFIERS)(raw_titles)
    assert by_kind(many) == by_kind(one)


def by_kind(found: FoundQualifiers) -> list[object]:
    """The qualifiers of titles, kind by kind."""
    order = np.lexsort((found.kinds, found.rows))
    return [own.tolist() for own in (*(column[order] for column in found[:3]), found.name_no_job)]


UNITS = [
    UnitSettings("ngram", 12, (2, 3)),
    UnitSettings("subword", 3, (2, 3, 4), 2),
    UnitSettings("subword", 30, (3,)),
]


@cache
def bag(number: int) -> Bag:
    """A bag whose rows are as many as its units."""
    featurizer = Featurizer.fit([*ALIASES, "ward sister of the night"], [UNITS[number]])
    rows = np.random.default_rng(number).integers(-127, 127, (featurizer.sizes[0], 4), np.int8)
    scales = np.full(len(rows), 0.5, np.float32)
    return Bag(featurizer, rows, scales, np.zeros(4, np.float32), tanh=False)


@pytest.mark.parametrize("number", range(len(UNITS)))
@given(TITLES)
def test_units_equal_those_of_the_featurizer(number: int, titles: list[str]) -> None:
    """In any order, since they are added up."""
    (ids,) = bag(number).featurizer(titles).streams
    ends = np.cumsum([0, *ids.lengths])
    with loops():
        flat, starts = bag(number)._units(titles)
    assert starts.tolist() == ends.tolist()
    for start, end in pairwise(starts):
        assert sorted(flat[start:end]) == sorted(ids.flat[start:end])


@given(st.lists(RAW | st.text(), max_size=6))
@settings(max_examples=400)
def test_lots_are_cleaned_and_hashed_as_one_title(raw_titles: list[str]) -> None:
    texts = [*map(shortened, raw_titles)]
    with loops():
        lot = cleaned_titles(texts)
    assert isinstance(lot, TitleLot)
    assert [*lot] == [*map(clean_title, texts)]
    assert lot.hashes.tolist() == hashes_of([*lot]).tolist()
    plain = [normalize_title(title) for title in lot]
    assert lot.normalized_hashes.tolist() == hashes_of(plain).tolist()


@pytest.mark.parametrize("unit", ["character", "word", "subword"])
@given(titles=TITLES, longest=st.integers(1, 9))
def test_lots_are_truncated_as_by_the_featurizer(
    unit: Unit, titles: list[str], longest: int
) -> None:
    settings = UnitSettings(unit, longest, (2,))
    featurizer = Featurizer("", (Vocabulary(settings, ("ab",)),))
    many = are_truncated(TitleLot.of(titles), featurizer)
    assert many.tolist() == featurizer(titles).truncated.tolist()


@given(st.lists(RAW, min_size=1, max_size=6))
def test_differences_are_words_that_the_other_has_not(texts: list[str]) -> None:
    ones = np.arange(len(texts))
    words, counts = Differences([texts[:2], texts[2:]])(ones, ones[::-1])
    own = [dict.fromkeys(WORD.findall(text.lower())) for text in texts]
    expected = [[*one.keys() - other] for one, other in zip(own, own[::-1], strict=True)]
    assert counts.tolist() == [*map(len, expected)]
    made = iter(words.to_pylist())
    for one, lacking in zip(own, expected, strict=True):
        assert [next(made) for _ in lacking] == [word for word in one if word in lacking]


@cache
def judged(calibrated: bool) -> Normalizer:
    """The toy, and what people and data call some titles."""
    normalizer = toy_normalizer(
        Calibration(0.06, [0.5] * 3, [1.0] * 3, -0.8, [], [0.9] * 3, [0.7] * 3)
        if calibrated
        else None
    )
    overrides = overrides_of(("driver", "baker"), ("part time", None), ("farm worker", "nurse"))
    wrong = overrides_of(("nurse", "nurse"), correct=False)
    labelled = [("driver nurse", "baker", 1.0, "label"), ("steel worker", "nurse", 1.0, "label")]
    return replace(
        normalizer,
        overrides={name: [*own, *wrong[name]] for name, own in overrides.items()},
        exemplars=table("title occupation_id weight source", labelled),
        embeddings=StoredVectors.of(embed([*normalizer.index.titles, *(r[0] for r in labelled)])),
        abbreviations=MANY.abbreviations,
        qualifiers=QUALIFIERS,
    )


@pytest.mark.parametrize("calibrated", [True, False])
@given(raw_titles=st.lists(RAW | st.text(max_size=3) | st.none() | st.floats(), max_size=8))
def test_lots_get_the_answers_of_one_title(calibrated: bool, raw_titles: list[object]) -> None:
    normalizer = judged(calibrated)
    with loops(at_hand=False):
        plain = normalizer.predict(raw_titles).table
    with loops():
        many = normalizer.predict(raw_titles).table
    assert many.equals(plain)
