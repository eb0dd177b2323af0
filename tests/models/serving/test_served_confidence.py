"""Confidence: shares of the hierarchy by hand, evidence of words, what is unlike a job title."""

from dataclasses import replace
from math import log, log1p

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from served_toy import toy_normalizer
from word_oracle import same_word

from models.serving.confidence import (
    EVIDENCE,
    KNOWN,
    Calibration,
    Levels,
    OodScore,
    is_abbreviation,
    word_evidence,
)
from models.text.titles import clean_title
from models.text.words import WORDS, TitleWords, Words, forms_of

STRICT = Calibration(0.06, [0.0] * 3, [1.0] * 3, -9.0)
"""Nothing but titles of the taxonomy is in the domain."""


@pytest.mark.parametrize(
    ("title", "short"),
    [("rn", True), ("hrbp", True), ("nurse", False), ("ceo", False), ("x", False), ("c++", False)],
)
def test_abbreviations(title: str, short: bool) -> None:
    assert is_abbreviation(title) == short


def test_what_is_misspelt_or_abbreviated_gets_an_answer() -> None:
    """A misspelt title of the taxonomy is that title; an unknown abbreviation is unsure."""
    endings = {"nurse": 9, "baker": 5}
    normalizer = replace(toy_normalizer(STRICT), words=TitleWords(endings, endings, {}))
    answers = normalizer.predict(["Nures", "bakr", "HRBP", "R.N.", "horse"])
    nurse, baker, hrbp, rn, horse = answers
    assert (nurse.occupation_id, nurse.answered_by) == ("nurse", "taxonomy")
    assert (baker.occupation_id, baker.answered_by) == ("baker", "taxonomy")
    assert hrbp.reason is None and rn.reason is None
    assert horse.abstained


HIERARCHY = Levels.of([["1", "11"], ["1", "12"], ["2"], []])


def test_short_hierarchies_repeat_their_last_code() -> None:
    """The last level is the occupation; what has no code shares one with no other."""
    assert len(HIERARCHY) == 3
    same = HIERARCHY.agree(np.array([0, 0, 2, 3]), np.array([1, 0, 2, 2]))
    assert same.tolist() == [
        [True, False, False],
        [True, True, True],
        [True, True, True],
        [False, False, False],
    ]


def test_shares_by_hand() -> None:
    scores = 0.1 * np.log(np.array([[0.5, 0.2, 0.2, 0.1]] * 2, np.float32))
    shares = HIERARCHY.shares(scores, 0.1, np.array([1, 2]))
    assert shares == pytest.approx(np.array([[0.7, 0.2, 0.2], [0.2, 0.2, 0.2]]), rel=1e-5)


@pytest.mark.thorough
@given(st.lists(st.floats(0, 1), min_size=3, max_size=3))
def test_a_broader_code_is_never_less_certain(shares: list[float]) -> None:
    made = Calibration(0.1, [0.5, -2.0, 1.0], [1.0, 0.7, 1.3], 0.0)
    confidence = made(np.array([shares]))[0]
    assert (np.diff(confidence) <= 0).all()
    assert ((confidence > 0) & (confidence < 1)).all()
    by_hand = 1 / (1 + np.exp(-(1 + 1.3 * np.log(1e-6 / (1 - 1e-6)))))
    assert made(np.array([[0.0, 0.0, 0.0]]))[0, -1] == pytest.approx(by_hand)


ENDINGS = TitleWords.of(["hearse driver", "bus driver", "pizza chef", "driver"]).endings


@pytest.mark.parametrize(
    ("title", "alias", "label", "said"),
    [
        ("bus driver", "bus driver", "Bus driver", [0, 0, 0, 0, 0, 0, 0, 0]),
        ("driver", "hearse driver", "hearse driver", [0, 6 / 12, 6 / 12, 1, 0, log1p(3), 0, 0]),
        ("pizza", "pizza chef", "pizzaiolo", [0, 4 / 9, 1, 1, 0, 0, 1, 0]),
        ("tram driver", "drivers", "Wattmann/tram driver", [4 / 10, 0, 0, 0, 0, 0, 0, 0]),
        ("pm", "podiatrist", "", [1, 1, 0, 1, 1, 0, 0, 1]),
        ("!?", "driver", "driver", [1, 1, 1, 0, 0, 0, 0, 1]),
    ],
)
def test_evidence_by_hand(title: str, alias: str, label: str, said: list[float]) -> None:
    made = word_evidence(Words.of([title])[0], [alias], [label], np.array([0.75]), ENDINGS)
    assert made.shape == (1, len(EVIDENCE)) and made[0].tolist() == pytest.approx([*said, 0.25])
    assert word_evidence(Words.of([])[0], [], [], np.zeros(0), ENDINGS).shape == (0, len(EVIDENCE))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("driver", "drivers", True),
        ("krankenpfleger", "krankenpflegerin", True),
        ("techer", "teacher", True),
        ("teahcer", "teacher", True),
        ("product", "production", False),
        ("baker", "barber", False),
        ("cook", "book", True),  # one letter: a spelling, as far as anybody can tell
        ("pm", "pma", False),
    ],
)
def test_forms_of_a_word(one: str, other: str, same: bool) -> None:
    assert same_word(one, other) == same_word(other, one) == same
    lacks = word_evidence(Words.of([one, other])[0], [other, one], ["", ""], np.zeros(2), {})[:, :2]
    assert (lacks == (0 if same else 1)).all()


def lacking(words: list[str], others: list[str]) -> float:
    """The share of the letters of words that have no like among others."""
    letters = sum(map(len, words))
    lacks = sum(len(word) for word in words if not any(same_word(word, one) for one in others))
    return lacks / max(letters, 1)


TEXT = st.lists(
    st.sampled_from(
        ["driver", "drivers", "drivr", "bus", "nurse", "rn", "c++", "é", "-", "/", "\n"]
    )
    | st.text("abé'+ /-", max_size=6),
    max_size=4,
).map(" ".join)


@given(st.lists(st.tuples(TEXT, TEXT, TEXT), max_size=5))
def test_evidence_of_many_titles_equals_the_loop(rows: list[tuple[str, str, str]]) -> None:
    titles, aliases, labels = ([clean_title(row[at]) for row in rows] for at in range(3))
    made = word_evidence(Words.of(titles)[0], aliases, labels, np.zeros(len(rows)), ENDINGS)
    for row, title, alias, label in zip(made, titles, aliases, labels, strict=True):
        words, others = WORDS.findall(title), WORDS.findall(alias)
        if not words:
            assert row.tolist() == [1, 1, 1, 0, 0, 0, 0, 1, 1]
            continue
        forms = [WORDS.findall(form) for form in forms_of(label)]
        unmatched, unsaid, lone = lacking(words, others), lacking(others, words), len(words) == 1
        topic = lone and unsaid > 0 and bool(others) and same_word(words[0], others[0])
        expected = [
            *(unmatched, unsaid, min((lacking(form, words) for form in forms), default=0)),
            *(lone, lone * unmatched, lone * log1p(ENDINGS.get(words[0], 0)), topic),
            *(max(map(len, words)) <= 3, 1),
        ]
        assert row.tolist() == pytest.approx([*map(float, expected)])


TITLES = [
    "nurse",
    "head nurse (ward)",
    "school nurse",
    "horse trainer",
    "c++ trainer",
    "trainer, horses",
    "sales/marketing",
]


def ood_score_of(titles: list[str]) -> OodScore:
    return OodScore(frozenset(titles), TitleWords.of(titles).endings)


OOD = ood_score_of(TITLES)
NURSE, TRAINER = log1p(3), log1p(3)  # each ends the first part of three titles


@pytest.mark.parametrize(
    ("title", "bonus"),
    [
        ("night nurse", 0.05 * NURSE + 0.1 * NURSE / 2),
        ("nurse - night shift", 0.05 * NURSE + 0.1 * NURSE / 3),
        ("night shift nurse at home", 0.1 * NURSE / 5),  # ends no part
        ("horse", -0.2),
        ("sales", 0.05 * log1p(1) + 0.1 * log1p(1) - 0.2),
        ("nurse/trainer", 0.05 * NURSE + 0.1 * (NURSE + TRAINER) / 2),
        ("horses", -0.2),  # of a title's second part
        ("marketing", -0.2),
        ("", 0.0),
        ("!?", 0.0),
        ("school nurse", KNOWN),
    ],
)
def test_ood_scores_by_hand(title: str, bonus: float) -> None:
    assert OOD([title], np.array([0.5], np.float32)) == pytest.approx([-(0.5 + bonus)])


def test_the_ending_saturates() -> None:
    """Above twenty titles more of them add nothing but to the mean."""
    many = ood_score_of([f"{letter * 3} nurse" for letter in "abcdefghijklmnopqrstuvwxyz"])
    (value,) = many(["ward nurse"], np.zeros(1))
    assert -value == pytest.approx(0.05 * log(20) + 0.1 * log1p(26) / 2)


def test_no_titles_know_no_word() -> None:
    assert ood_score_of([])(["head nurse"], np.ones(1)).tolist() == [-1.0]


@pytest.mark.thorough
@given(st.lists(st.text(max_size=30), max_size=5))
def test_any_text_has_a_finite_one(titles: list[str]) -> None:
    values = OOD(titles, np.zeros(len(titles)))
    assert values.shape == (len(titles),) and np.isfinite(values).all()
