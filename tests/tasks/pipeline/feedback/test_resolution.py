"""Each rule by hand; all of them against loops that follow their text; overrides by hand."""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import Any, NamedTuple

import polars as pl
import pytest
from feedback_tables import verdict, verdicts_of
from frames_of import aliases_of
from hypothesis import given, settings
from hypothesis import strategies as st

from models.text.titles import clean_title, normalize_title
from tasks.io.frames import check
from tasks.io.schemas import OVERRIDES, READINGS, RESOLUTIONS
from tasks.pipeline.feedback.resolution import latest_verdicts, overrides, resolve

TITLES = {
    "baker": ["baker", "bread maker", "mixer"],
    "cook": ["cook", "chef", "mixer"],
    "driver": ["driver"],
    "pilot": ["pilot", "driver"],
}
"""The label first. "mixer" is of two occupations; a driver's only title is a pilot's too."""
ALIASES = aliases_of(
    (one, title.upper(), position == 0, "train")
    for one, titles in TITLES.items()
    for position, title in enumerate(titles)
)
QUERIES = {"asked in a test"}
LABELS = {"reviewer": "labels", "at": "2026-09-09", "from_labels": True}
LATER = "2026-01-09"
Row = dict[str, Any]
Short = tuple[str, str, str, str | None]


class Resolved(NamedTuple):
    """What `resolve` returns."""

    resolutions: pl.DataFrame
    of_queries: pl.DataFrame
    counts: dict[str, int]

    @property
    def trained(self) -> list[Short]:
        """(raw title, predicted occupation, resolution, correct one) to learn from."""
        rows = self.resolutions.drop_nulls("matched_title")
        columns = ("raw_title", "predicted_occupation_id", "resolution", "occupation_id")
        return rows.select(columns).rows()


def resolved(*rows: Row) -> Resolved:
    result = Resolved(*resolve(verdicts_of(*rows), ALIASES, QUERIES))
    schema = {name: kind for name, kind in RESOLUTIONS.items() if name != "held_out"}
    for frame in result[:2]:
        check(frame, schema, "resolutions")
        for raw, cleaned, normalized in frame.select("raw_title", *READINGS).iter_rows():
            assert (cleaned, normalized) == (clean_title(raw), normalize_title(raw))
    return result


BOTH = [verdict("x", "cook", "correct"), verdict("x", "cook", "incorrect", "baker")]
RULES: dict[str, tuple[list[Row], list[Short], dict[str, int]]] = {
    "nothing to resolve": ([], [], {"rows": 0, "predictions": 0}),
    "correct, incorrect and corrected": (
        [
            verdict("x", "cook", "incorrect", "baker"),
            verdict("y", "cook", "correct"),
            verdict("z", "cook", "incorrect"),
        ],
        [
            ("x", "cook", "incorrect", "baker"),
            ("y", "cook", "correct", "cook"),
            ("z", "cook", "incorrect", None),
        ],
        {"corrected": 1, "correct": 1, "incorrect": 2},
    ),
    # of four verdicts on a cook's title two agree, and one of their corrections does not
    "rule 2: the taxonomy holds": (
        [
            verdict("Chef!", "cook", "correct"),
            verdict("Chef!", "baker", "incorrect", "pilot"),
            verdict("Chef!", "cook", "incorrect", "baker", reviewer="bob"),
            verdict("Chef!", "pilot", "correct", reviewer="cleo"),
            verdict("mixer", "cook", "correct"),
        ],
        [
            ("Chef!", "baker", "incorrect", "cook"),
            ("Chef!", "cook", "correct", "cook"),
            ("mixer", "cook", "correct", "cook"),
        ],
        {"contradicts_taxonomy": 2, "correction_contradicts_taxonomy": 1},
    ),
    # Ann's three are one voice for, against two voices
    "rule 3: saying it often is saying it once": (
        [
            *(verdict("x", "cook", "correct", at=f"2026-01-0{day}") for day in (1, 2, 3)),
            verdict("X!", "cook", "incorrect", reviewer="bob"),
            verdict("x", "cook", "incorrect", reviewer="cleo"),
        ],
        [("X!", "cook", "incorrect", None)],
        {"duplicate": 2, "counted": 3, "conflicts": 1},
    ),
    # the correction of what he took back goes with it; a row without a time is the oldest
    "rule 4: the latest of a reviewer holds": (
        [
            verdict("x", "cook", "incorrect", "baker", at="2026-01-01"),
            verdict("x", "cook", "correct", at="2026-01-02"),
            verdict("x", "cook", "incorrect", "pilot", at=None),
        ],
        [("x", "cook", "correct", "cook")],
        {"outdated": 2},
    ),
    # of one input two labels, cook and baker, and the prediction cook
    "rule 5: yes and no at once are no voice": (BOTH, [], {"unresolved": 1, "conflicts": 0}),
    "rule 5: another voice decides": (
        [*BOTH, verdict("x", "cook", "incorrect", reviewer="bob")],
        [("x", "cook", "incorrect", "baker")],
        {},
    ),
    # first baker instead of cook, then not even baker: both are incorrect, none is correct
    "rule 5: a correction taken back": (
        [
            verdict("x", "cook", "incorrect", "baker", at="2026-01-01"),
            verdict("x", "baker", "incorrect", at="2026-01-02"),
        ],
        [("x", "baker", "incorrect", None), ("x", "cook", "incorrect", None)],
        {},
    ),
    # m: 2 to 1, though the one is later; t: 1 to 1, no came later; u: 1 to 1 at the same time
    "rule 6: the majority, then the latest, then nobody": (
        [
            verdict("m", "cook", "correct", reviewer="ann"),
            verdict("m", "cook", "correct", reviewer="bob"),
            verdict("m", "cook", "incorrect", reviewer="cleo", at=LATER),
            verdict("t", "cook", "correct", reviewer="ann"),
            verdict("t", "cook", "incorrect", reviewer="bob", at=LATER),
            verdict("u", "cook", "correct", reviewer="ann"),
            verdict("u", "cook", "incorrect", reviewer="bob"),
        ],
        [("m", "cook", "correct", "cook"), ("t", "cook", "incorrect", None)],
        {"conflicts": 3, "unresolved": 1},
    ),
    # cook: incorrect says Ann; correct, in other words, say Bob and Cleo, who correct baker to cook
    "rule 6: a correction is a voice for its occupation": (
        [
            verdict("x", "cook", "incorrect"),
            verdict("x", "baker", "incorrect", "cook", reviewer="bob"),
            verdict("x", "baker", "incorrect", "cook", reviewer="cleo"),
        ],
        [("x", "baker", "incorrect", "cook"), ("x", "cook", "correct", "cook")],
        {},
    ),
    # whoever spoke last; a label that nobody contradicts holds, and breaks a tie of people
    "rule 6: a person outvotes the labels": (
        [
            verdict("x", "cook", "incorrect", "baker", **LABELS),
            verdict("x", "cook", "correct"),
            verdict("y", "cook", "incorrect", "baker", **LABELS),
            verdict("y", "cook", "incorrect", "pilot", at=None),
            verdict("z", "cook", "incorrect", "baker", **LABELS),
            verdict("z", "cook", "incorrect"),
            verdict("t", "cook", "correct", **LABELS),
            verdict("t", "cook", "correct"),
            verdict("t", "cook", "incorrect", reviewer="bob", at="2026-02-02"),
        ],
        [
            ("t", "cook", "correct", "cook"),
            ("x", "cook", "correct", "cook"),
            ("y", "cook", "incorrect", "pilot"),
            ("z", "cook", "incorrect", "baker"),
        ],
        {"conflicts": 2},
    ),
    # else the two would be one reviewer who says yes and no at once
    "a person who is called labels is a person": (
        [
            verdict("x", "cook", "correct", reviewer="labels"),
            verdict("x", "cook", "incorrect", "baker", **LABELS),
        ],
        [("x", "cook", "correct", "cook")],
        {},
    ),
    # m: cook has 2 of 3; t: baker came last; u: nothing tells them apart, so both go
    "rule 7: one correct occupation": (
        [
            verdict("m", "cook", "correct", reviewer="ann"),
            verdict("m", "cook", "correct", reviewer="bob"),
            verdict("m", "baker", "correct", reviewer="cleo", at=LATER),
            verdict("t", "cook", "correct"),
            verdict("t", "baker", "correct", at=LATER),
            verdict("u", "cook", "correct"),
            verdict("u", "baker", "correct"),
            verdict("u", "pilot", "incorrect"),
        ],
        [
            ("m", "cook", "correct", "cook"),
            ("t", "baker", "correct", "baker"),
            ("u", "pilot", "incorrect", None),
        ],
        {"not_the_right_one": 4},
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_by_hand(rule: str) -> None:
    rows, trained, counts = RULES[rule]
    result = resolved(*rows)
    assert result.trained == trained
    assert {name: result.counts[name] for name in counts} == counts


@pytest.mark.parametrize("raw_title", ["asked in a test", " ASKED in a test!", "asked, in a test"])
def test_rule_1_queries_stay_unseen(raw_title: str) -> None:
    result = resolved(verdict(raw_title, "cook", "correct"), verdict("x", "cook", "correct"))
    assert result.trained == [("x", "cook", "correct", "cook")]
    assert result.counts["query"] == 1
    assert result.of_queries["normalized"].to_list() == ["asked in a test"]


def test_rule_9_incorrect_never_speaks_against_the_correct_occupations_titles() -> None:
    """A mixer is a cook and a baker: the label stands for it. A driver's label is a pilot's too.

    A title that nobody agrees on has no matched title either.
    """
    result = resolved(
        verdict("x", "cook", "incorrect", "baker", matched="mixer"),
        verdict("y", "cook", "incorrect", "pilot", matched="mixer"),
        verdict("z", "driver", "incorrect", "pilot"),
        verdict("z", "cook", "incorrect"),
        verdict("u", "cook", "correct"),
        verdict("u", "cook", "incorrect", reviewer="bob"),
    )
    columns = ("raw_title", "matched_title", "resolution", "disputed", "occupation_id")
    assert result.resolutions.select(columns).rows() == [
        ("u", None, "unresolved", True, None),
        ("x", "cook", "incorrect", False, "baker"),
        ("y", "mixer", "incorrect", False, "pilot"),
        ("z", "cook", "incorrect", False, "pilot"),
        ("z", None, "incorrect", False, "pilot"),
    ]
    assert result.counts["shared_title"] == result.counts["shared_title_replaced"] == 1


def test_the_latest_matched_title_stands() -> None:
    result = resolved(
        verdict("x", "cook", "correct", matched="chef", at="2026-01-02"),
        verdict("x", "cook", "correct", matched="cook", at="2026-01-01", reviewer="bob"),
        verdict("y", "cook", "correct", matched="cook"),
        verdict("y", "cook", "correct", matched="chef", reviewer="bob"),
    )
    assert result.resolutions["matched_title"].to_list() == ["chef", "chef"]


@st.composite
def any_verdict(draw: st.DrawFn) -> Row:
    predicted = draw(st.sampled_from(list(TITLES)))
    correct = draw(st.booleans())
    others = st.sampled_from([None, *(one for one in TITLES if one != predicted)])
    return verdict(
        draw(st.sampled_from(["x", "X!", "y", "Chef", "Mixer!", "Asked in a test"])),
        predicted,
        "correct" if correct else "incorrect",
        None if correct else draw(others),
        draw(st.sampled_from(["", "ann", "bob", "cleo"])),
        draw(st.sampled_from([None, "2026-01-01", "2026-01-02"])),
        draw(st.sampled_from(TITLES[predicted])),
        draw(st.booleans()),
    )


MANY = st.lists(any_verdict(), min_size=2, max_size=24)


def oracle(rows: list[Row]) -> set[Short]:
    """(normalized, predicted, resolution, correct one) by loops that follow the rules but 9."""
    owners = defaultdict(set)
    for one, titles in TITLES.items():
        for title in titles:
            owners[title].add(one)
    said = defaultdict(set)  # (name, reviewer, predicted) -> (at, correct, corrected)
    for row in rows:
        name, predicted = row["normalized"], row["predicted_occupation_id"]
        reviewer, correct = (row["reviewer_id"], row["from_labels"]), row["verdict"] == "correct"
        held, corrected = owners.get(name), None if correct else row["occupation_id"]
        if name in QUERIES or (held and (predicted in held) != correct):
            continue
        kept = corrected if corrected and (not held or corrected in held) else None
        said[name, reviewer, predicted].add((row["judged_at"] or "", correct, kept))
    claims = defaultdict(set)  # (name, occupation, reviewer) -> (at, says)
    predictions = set()
    for (name, reviewer, predicted), sayings in said.items():
        predictions.add((name, predicted))
        last = max(at for at, _, _ in sayings)
        for at, correct, corrected in sayings:
            if at == last:
                claims[name, predicted, reviewer].add((at, correct))
                if corrected:
                    claims[name, corrected, reviewer].add((at, True))
    sides: dict[tuple[str, str], dict[bool, list[tuple[str, int]]]] = {}
    for (name, one, (_, own)), sayings in claims.items():
        last = max(at for at, _ in sayings)
        latest = {says for at, says in sayings if at == last}
        if len(latest) == 1:
            side = sides.setdefault((name, one), {True: [], False: []})
            side[latest.pop()].append((last, 1 if own else 2))
    decided, backing = {}, defaultdict(list)
    for (name, one), side in sides.items():
        strength = {
            says: (sum(weight for _, weight in voices), max((at for at, _ in voices), default=""))
            for says, voices in side.items()
        }
        if strength[True] != strength[False]:
            decided[name, one] = strength[True] > strength[False]
            if decided[name, one]:
                backing[name].append((strength[True], one))
    correct_one = {}
    for name, backed in backing.items():
        best = [one for strength, one in backed if strength == max(backed)[0]]
        if len(best) == 1:
            correct_one[name] = best[0]
    return {
        (name, one, "correct" if decided[name, one] else "incorrect", correct_one.get(name))
        for name, one in predictions
        if (name, one) in decided and (not decided[name, one] or correct_one.get(name) == one)
    }


@pytest.mark.thorough
@given(MANY, st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_any_feedback(rows: list[Row], random: Random) -> None:
    """As loops that follow the rules have it; the rest agrees; counts add up; no order matters."""
    result = resolved(*rows)
    trained = {(normalize_title(raw), *rest) for raw, *rest in result.trained}
    expected = oracle(rows)
    # a driver's only title is a pilot's: by rule 9 nothing trains on `incorrect` beside a pilot
    lost = {row for row in expected if row[1:] == ("driver", "incorrect", "pilot")}
    assert trained == expected - lost
    assert len(trained) == len(result.trained)
    assert not {name for name, *_ in trained} & QUERIES
    wrong = result.resolutions.drop_nulls("matched_title").filter(resolution="incorrect")
    for occupation, title in wrong.select("occupation_id", "matched_title").iter_rows():
        assert title not in TITLES.get(occupation, ())
    counts = result.counts
    assert counts["shared_title"] == len(lost)
    rest = ("query", "contradicts_taxonomy", "duplicate", "outdated", "counted")
    assert counts["rows"] == len(rows) == sum(counts[name] for name in rest)
    rest = ("correct", "incorrect", "unresolved", "not_the_right_one", "shared_title")
    assert counts["predictions"] == sum(counts[name] for name in rest)
    order = ["raw_title", "predicted_occupation_id"]
    both = pl.concat([result.resolutions, result.of_queries]).sort(order)
    assert both.equals(resolve(verdicts_of(*rows), ALIASES, ())[0])  # queries, as if they were none
    random.shuffle(rows)
    assert resolved(*rows).resolutions.equals(result.resolutions)
    assert resolved(*rows).counts == counts


EARLY, LATE, NONE = "2026-01-01", "2026-02-01", "not_a_job_title"


def overrides_of(*rows: Row) -> tuple[dict[str, str | None], list[tuple[str, str]]]:
    """Answers, and (title, occupation) that are not given again."""
    verdicts = verdicts_of(*rows)
    fixed = overrides(resolve(verdicts, ALIASES, ())[0], verdicts, ALIASES)
    assert check(fixed, OVERRIDES, "overrides")["normalized"].is_sorted()
    answers, rejected = (fixed.filter(correct=correct).drop("correct") for correct in (True, False))
    return dict(answers.iter_rows()), rejected.rows()


def test_an_override_is_what_was_confirmed_or_corrected() -> None:
    answers, _ = overrides_of(
        verdict("Fry cook!", "cook", "correct"),
        verdict("ward loaf", "cook", "incorrect", "baker"),
        verdict("helper", "cook", "incorrect"),
        verdict("by its label", "cook", "incorrect", "baker", **LABELS),
    )
    assert answers == {"by its label": "baker", "fry cook": "cook", "ward loaf": "baker"}


def test_an_incorrect_answer_without_a_better_one_is_rejected() -> None:
    """Several of one title; none where the title has an answer, or is one of the taxonomy."""
    _, rejected = overrides_of(
        verdict("Helper!", "cook", "incorrect"),
        verdict("helper", "baker", "incorrect", reviewer="bob"),
        verdict("loaf", "cook", "incorrect"),
        verdict("loaf", "baker", "correct", reviewer="bob"),
        verdict("Cook", "cook", "incorrect"),
        verdict("see below", "cook", NONE),
    )
    assert rejected == [("helper", "baker"), ("helper", "cook")]


@pytest.mark.parametrize(
    ("ann", "bob", "rejected"),
    [
        (("incorrect", LATE), ("correct", EARLY), [("x", "cook")]),
        (("incorrect", EARLY), ("correct", LATE), []),
        ((NONE, LATE), ("correct", EARLY), []),  # a tie fixes nothing
    ],
)
def test_whoever_speaks_last_decides_what_is_rejected(
    ann: tuple[str, str], bob: tuple[str, str], rejected: list[tuple[str, str]]
) -> None:
    said = [
        verdict("x", "cook", word, reviewer=who, at=at)
        for who, (word, at) in (("ann", ann), ("bob", bob))
    ]
    assert overrides_of(*said)[1] == rejected


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ([(NONE, None, EARLY)], {"x": None}),
        ([(NONE, None, EARLY), (NONE, None, LATE)], {"x": None}),
        ([(NONE, None, EARLY), ("correct", None, LATE)], {}),  # a tie, whoever spoke last
        ([("correct", None, EARLY), (NONE, None, LATE)], {}),
        ([("incorrect", None, EARLY), (NONE, None, LATE)], {"x": None}),  # the first gave no answer
        ([("incorrect", "baker", EARLY), ("incorrect", "baker", LATE)], {"x": "baker"}),
        ([(NONE, None, EARLY)] * 2 + [("correct", None, LATE)], {"x": None}),
    ],
)
def test_not_a_job_title_against_others(
    words: list[tuple[str, str | None, str]], answer: dict[str, str | None]
) -> None:
    """Each of another reviewer."""
    said = [
        verdict("X", "cook", word, corrected, reviewer=f"r{number}", at=at)
        for number, (word, corrected, at) in enumerate(words)
    ]
    assert overrides_of(*said)[0] == answer


def test_a_change_of_mind_the_taxonomy_and_no_prediction() -> None:
    none, changed = verdict("x", "cook", NONE, at=EARLY), verdict("x", "cook", "correct", at=LATE)
    assert overrides_of(none, changed)[0] == {"x": "cook"}
    assert overrides_of(verdict("Cook", "cook", NONE))[0] == {}
    assert overrides_of(verdict("cook", "cook", "incorrect", "baker"))[0] == {}
    assert overrides_of(verdict("see below", None, NONE))[0] == {"see below": None}


def test_the_latest_verdict_of_a_reviewer_that_names_an_answer() -> None:
    said = verdicts_of(
        verdict("x", "cook", "incorrect", "baker", at=LATE),
        verdict("X!", "cook", "correct", at=EARLY),
        verdict("x", "cook", "correct", reviewer="bob", at=LATE),
        verdict("x", "baker", "correct", reviewer="bob", at=LATE),  # says two things at once
        verdict("x", "cook", "incorrect", reviewer="cid", at=LATE),
    )
    latest = latest_verdicts(said.sample(fraction=1, shuffle=True, seed=1))
    columns = ("normalized", "occupation_id", "reviewer_id")
    assert latest.select(columns).rows() == [("x", "baker", "ann")]
