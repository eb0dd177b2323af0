"""Each rule by hand; what holds for any feedback; overrides by hand."""

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

TITLES = {"baker": ["baker", "bread maker", "mixer"], "cook": ["cook", "chef", "mixer"]}
TITLES |= {"driver": ["driver"], "pilot": ["pilot", "driver"]}
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


def said(text: str) -> list[Row]:
    """Verdicts `title predicted verdict [corrected] [@reviewer] [time]`, with `;` between them."""
    rows = []
    for line in text.split(";"):
        title, predicted, word, *more = line.split()
        changes: Row = {}
        for value in more:
            if value == "LABELS":
                changes |= LABELS
            elif value == "undated":
                changes["at"] = None
            else:
                name = "reviewer" if value[0] == "@" else "at" if value[0] == "2" else "corrected"
                changes[name] = value.lstrip("@")
        rows.append(verdict(title, predicted, word, **changes))
    return rows


BOTH = "x cook correct; x cook incorrect baker"
RULES = {
    "correct, incorrect and corrected": (
        "x cook incorrect baker; y cook correct; z cook incorrect",
        ["x cook incorrect baker", "y cook correct cook", "z cook incorrect None"],
        {"corrected": 1, "correct": 1, "incorrect": 2},
    ),
    # of four verdicts on a cook's title two agree, and one of their corrections does not
    "rule 2: the taxonomy holds": (
        "Chef! cook correct; Chef! baker incorrect pilot; Chef! cook incorrect baker @bob;"
        "Chef! pilot correct @cleo; mixer cook correct",
        ["Chef! baker incorrect cook", "Chef! cook correct cook", "mixer cook correct cook"],
        {"contradicts_taxonomy": 2, "correction_contradicts_taxonomy": 1},
    ),
    # Ann's three are one voice for, against two voices
    "rule 3: saying it often is saying it once": (
        "x cook correct 2026-01-01; x cook correct 2026-01-02; x cook correct 2026-01-03;"
        "X! cook incorrect @bob; x cook incorrect @cleo",
        ["X! cook incorrect None"],
        {"duplicate": 2, "counted": 3, "conflicts": 1},
    ),
    # the correction of what he took back goes with it; a row without a time is the oldest
    "rule 4: the latest of a reviewer holds": (
        "x cook incorrect baker; x cook correct 2026-01-02; x cook incorrect pilot undated",
        ["x cook correct cook"],
        {"outdated": 2},
    ),
    # of one input two labels, cook and baker, and the prediction cook
    "rule 5: yes and no at once are no voice": (BOTH, [], {"unresolved": 1, "conflicts": 0}),
    "rule 5: another voice decides": (
        f"{BOTH}; x cook incorrect @bob",
        ["x cook incorrect baker"],
        {},
    ),
    # first baker instead of cook, then not even baker: both are incorrect, none is correct
    "rule 5: a correction taken back": (
        "x cook incorrect baker; x baker incorrect 2026-01-02",
        ["x baker incorrect None", "x cook incorrect None"],
        {},
    ),
    # m: 2 to 1, though the one is later; t: 1 to 1, no came later; u: 1 to 1 at the same time
    "rule 6: the majority, then the latest, then nobody": (
        f"m cook correct @ann; m cook correct @bob; m cook incorrect @cleo {LATER};"
        f"t cook correct @ann; t cook incorrect @bob {LATER};"
        "u cook correct @ann; u cook incorrect @bob",
        ["m cook correct cook", "t cook incorrect None"],
        {"conflicts": 3, "unresolved": 1},
    ),
    # cook: incorrect says Ann; correct, in other words, say Bob and Cleo, who correct baker to cook
    "rule 6: a correction is a voice for its occupation": (
        "x cook incorrect; x baker incorrect cook @bob; x baker incorrect cook @cleo",
        ["x baker incorrect cook", "x cook correct cook"],
        {},
    ),
    # whoever spoke last; a label that nobody contradicts holds, and breaks a tie of people
    "rule 6: a person outvotes the labels": (
        "x cook incorrect baker LABELS; x cook correct;"
        "y cook incorrect baker LABELS; y cook incorrect pilot undated;"
        "z cook incorrect baker LABELS; z cook incorrect;"
        "t cook correct LABELS; t cook correct; t cook incorrect @bob 2026-02-02",
        [
            *("t cook correct cook", "x cook correct cook"),
            *("y cook incorrect pilot", "z cook incorrect baker"),
        ],
        {"conflicts": 2},
    ),
    # else the two would be one reviewer who says yes and no at once
    "a person who is called labels is a person": (
        "x cook correct @labels; x cook incorrect baker LABELS",
        ["x cook correct cook"],
        {},
    ),
    # m: cook has 2 of 3; t: baker came last; u: nothing tells them apart, so both go
    "rule 7: one correct occupation": (
        f"m cook correct @ann; m cook correct @bob; m baker correct @cleo {LATER};"
        f"t cook correct; t baker correct {LATER};"
        "u cook correct; u baker correct; u pilot incorrect",
        ["m cook correct cook", "t baker correct baker", "u pilot incorrect None"],
        {"not_the_right_one": 4},
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_by_hand(rule: str) -> None:
    rows, trained, counts = RULES[rule]
    result = resolved(*said(rows))
    assert [" ".join(map(str, row)) for row in result.trained] == trained
    assert {name: result.counts[name] for name in counts} == counts


def test_rule_1_queries_stay_unseen() -> None:
    result = resolved(verdict(" ASKED in a test!", "cook", "correct"), *said("x cook correct"))
    assert result.trained == [("x", "cook", "correct", "cook")]
    assert result.counts["query"] == 1
    assert result.of_queries["normalized"].to_list() == ["asked in a test"]
    none = resolved()
    assert none.trained == [] and set(none.counts.values()) == {0}


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


@pytest.mark.thorough
@given(MANY, st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_any_feedback(rows: list[Row], random: Random) -> None:
    """No query and no title of the correct occupation trains; counts add up in any order."""
    result = resolved(*rows)
    trained = {(normalize_title(raw), *rest) for raw, *rest in result.trained}
    assert len(trained) == len(result.trained)
    assert not {name for name, *_ in trained} & QUERIES
    wrong = result.resolutions.drop_nulls("matched_title").filter(resolution="incorrect")
    for occupation, title in wrong.select("occupation_id", "matched_title").iter_rows():
        assert title not in TITLES.get(occupation, ())
    counts = result.counts
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


def overrides_of(text: str) -> tuple[dict[str, str | None], list[tuple[str, str]]]:
    """Answers, and (title, occupation) that are not given again."""
    verdicts = verdicts_of(*said(text))
    fixed = overrides(resolve(verdicts, ALIASES, ())[0], verdicts, ALIASES)
    assert check(fixed, OVERRIDES, "overrides")["normalized"].is_sorted()
    answers, rejected = (fixed.filter(correct=correct).drop("correct") for correct in (True, False))
    return dict(answers.iter_rows()), rejected.rows()


NONE, LATE = "x cook not_a_job_title", "2026-02-01"


@pytest.mark.parametrize(
    ("rows", "answers"),
    [
        # confirmed or corrected
        (
            "Fryer! cook correct; loaf cook incorrect baker; helper cook incorrect;"
            "label cook incorrect baker LABELS",
            {"fryer": "cook", "label": "baker", "loaf": "baker"},
        ),
        ("cook cook incorrect baker; Cook cook not_a_job_title", {}),  # the taxonomy's own title
        (f"{NONE} @ann; {NONE} @bob {LATE}", {"x": None}),
        (f"{NONE} @ann; x cook correct @bob {LATE}", {}),  # a tie, whoever spoke last
        (f"x cook correct @ann; {NONE} @bob {LATE}", {}),
        (f"x cook incorrect @ann; {NONE} @bob {LATE}", {"x": None}),  # the first gave no answer
        ("x cook incorrect baker @ann; x cook incorrect baker @bob", {"x": "baker"}),
        (f"{NONE} @ann; {NONE} @bob; x cook correct @cleo {LATE}", {"x": None}),
        (f"{NONE} @ann; x cook correct @ann {LATE}", {"x": "cook"}),  # a change of mind
    ],
)
def test_an_override_is_what_was_confirmed_or_corrected(rows, answers) -> None:
    assert overrides_of(rows)[0] == answers


@pytest.mark.parametrize(
    ("rows", "rejected"),
    [
        # several of one title; none where the title has an answer, or is one of the taxonomy
        (
            "Helper! cook incorrect; helper baker incorrect @bob; loaf cook incorrect;"
            f"loaf baker correct @bob; Cook cook incorrect; {NONE}",
            [("helper", "baker"), ("helper", "cook")],
        ),
        (f"x cook incorrect @ann {LATE}; x cook correct @bob", [("x", "cook")]),
        (f"x cook incorrect @ann; x cook correct @bob {LATE}", []),
        (f"{NONE} @ann {LATE}; x cook correct @bob", []),  # a tie fixes nothing
    ],
)
def test_an_incorrect_answer_without_a_better_one_is_rejected(rows, rejected) -> None:
    """Whoever speaks last decides."""
    assert overrides_of(rows)[1] == rejected


def test_an_override_needs_no_prediction() -> None:
    verdicts = verdicts_of(verdict("see below", None, "not_a_job_title"))
    fixed = overrides(resolve(verdicts, ALIASES, ())[0], verdicts, ALIASES)
    assert fixed.rows() == [("see below", None, True)]


def test_the_latest_verdict_of_a_reviewer_that_names_an_answer() -> None:
    # bob says two things at once, cid names no answer
    ann = f"x cook incorrect baker {LATE}; X! cook correct"
    bob = f"x cook correct @bob {LATE}; x baker correct @bob {LATE}"
    verdicts = verdicts_of(*said(f"{ann}; {bob}; x cook incorrect @cid {LATE}"))
    latest = latest_verdicts(verdicts.sample(fraction=1, shuffle=True, seed=1))
    columns = ("normalized", "occupation_id", "reviewer_id")
    assert latest.select(columns).rows() == [("x", "baker", "ann")]
