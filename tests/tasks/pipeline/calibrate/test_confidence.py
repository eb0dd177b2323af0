"""Queries for the confidence, the message if there are too few, and shares of exact titles."""

import numpy as np
import polars as pl
import pytest
from frames_of import aliases_of, inputs_of, queries_of

from models.serving.confidence import Levels
from models.serving.index import AliasIndex
from tasks.io.schemas import OCCUPATIONS
from tasks.pipeline.calibrate.confidence import (
    agreement,
    exact_shares,
    labelled_queries,
    labels_of_titles,
    made_queries,
)

INDEX = AliasIndex.of(["bread baker", "night nurse", "nurse", "ward nurse"], ["a", "b", "c", "c"])
HIERARCHY = Levels.of([["7"], ["2"], ["2"]])


def test_labelled_inputs_that_nothing_was_trained_on_come_before_held_out_titles() -> None:
    """Fifty of them or of the others; misspelt titles never do."""
    tests = ["typos"] * 50 + ["heldout_alias"] * 51 + ["annotations"] * 30
    rows = ((f"{n}", test, "valid", "chef", ["b"], 1, "alias") for n, test in enumerate(tests))
    valid = queries_of(rows)
    inputs = inputs_of([(f"Cook {number}", "b", "train") for number in range(30)])
    trained = {f"cook {number}" for number in range(10)}
    made = labelled_queries(valid, inputs, trained, {"cook 1", "chef"})
    assert (made.test, len(made.queries), made.missing) == ("annotations", 50, "")
    held_out = labelled_queries(valid, inputs, trained, {"cook 29"})
    assert (held_out.test, len(held_out.queries)) == ("heldout_alias", 51)
    assert held_out.missing == "49 labelled titles; confidence needs 50, about 10 more rows"
    nothing = labelled_queries(valid[:99], inputs.clear(), set(), set())
    assert (nothing.test, len(nothing.queries)) == ("", 0)
    assert nothing.missing == "0 labelled titles; confidence needs 50"


def test_vague_queries_are_last_words_initials_and_topics() -> None:
    made = made_queries(INDEX, np.random.default_rng(1))
    assert sorted(made.rows()) == sorted(
        [
            *[("baker", ["a"], False), ("nurse", ["b"], False), ("nurse", ["c"], False)],
            *[("bb", ["a"], False), ("nn", ["b"], False), ("wn", ["c"], False)],
            *[("bread", ["a"], True), ("night", ["b"], True), ("ward", ["c"], True)],
        ]
    )


def test_labels_are_in_the_language_of_the_title() -> None:
    """Of two languages that of the own label counts; without a label in it, the own one."""
    rows = [("a", "Bäcker", "de", True), ("a", "bakery hand", "de", False)]
    rows += [("a", "baker", "en", True), ("a", "bakery hand", "en", False)]
    rows += [("a", "fornaio", "it", False), ("b", "bakery hand", "de", False)]
    rows += [("b", "Küchenhilfe", "de", True)]
    aliases = pl.concat(aliases_of([(o, t, p, "train")], spoken) for o, t, spoken, p in rows)
    names = [("a", "baker", []), ("b", "kitchen hand", [])]
    occupations = pl.DataFrame(names, OCCUPATIONS, orient="row")
    assert sorted(labels_of_titles(aliases, occupations).rows()) == [
        ("a", "baker", "baker"),
        ("a", "bakery hand", "baker"),
        ("a", "bäcker", "Bäcker"),
        ("a", "fornaio", "baker"),
        ("b", "bakery hand", "Küchenhilfe"),
        ("b", "küchenhilfe", "Küchenhilfe"),
    ]


def test_how_often_exact_titles_are_right() -> None:
    """Nine of ten are assumed; the label goes before another's alias, and two owners count not."""
    rows = [("a", "Baker", True, "train"), ("b", "baker", False, "train")]
    rows += [("b", "Nurse", True, "train"), ("b", "help", False, "train")]
    rows += [("c", "help", False, "train")]
    inputs = inputs_of([("Baker", "a", "known"), ("NURSE", "c", "known"), ("help", "c", "known")])
    shares = exact_shares(aliases_of(rows), inputs, INDEX, HIERARCHY)
    assert shares == pytest.approx([11 / 12, 10 / 12])


def test_how_often_two_labels_agree() -> None:
    """Titles that a test or the gate queries do not count."""
    inputs = inputs_of(
        [
            ("Chef", "b", "train"),
            ("chef", "c", "train"),
            ("Cook", "a", "train"),
            ("x", None, "train"),
            *[("night cook", one, kept) for one in "ab" for kept in ("annotations", "gate")],
        ]
    )
    assert agreement(inputs, INDEX, HIERARCHY) == pytest.approx([5 / 6, 4 / 6])
