"""Pulls against scores of titles that lack a word; the sentence says what they say."""

import json

import pytest
from served_toy import toy_normalizer
from test_model import scores_by_loop

from models.serving.explain import LEAST_MORE, MOST_WORDS, explain

NORMALIZER = toy_normalizer()


def test_a_pull_is_what_the_score_loses() -> None:
    explanation = explain(NORMALIZER, "Ward BAKER!")
    assert [split.word for split in explanation.parts] == ["ward", "baker"]
    first, second = explanation.answer.top_occupation_ids
    everything = set(NORMALIZER.index.titles)
    whole = scores_by_loop("ward baker!", everything, NORMALIZER.rule)
    for split, rest in zip(explanation.parts, ("baker!", "ward !"), strict=True):
        less = scores_by_loop(rest, everything, NORMALIZER.rule)
        assert split.pull == pytest.approx(whole[first] - less[first], abs=1e-5)
        assert split.runner_up_pull == pytest.approx(whole[second] - less[second], abs=1e-5)


def test_the_sentence_names_what_decided() -> None:
    explanation = explain(NORMALIZER, "bread ward")
    assert explanation.answer.occupation_id == "baker"
    assert explanation.runner_up_label == "Nurse"
    margin = f"loses by {explanation.answer.score_margin:.2f}"
    assert all(split in explanation.why for split in ("Bread maker", "'bread'", "Nurse", margin))
    values = json.loads(json.dumps(explanation.values()))
    assert values["parts"][0].keys() == {"word", "pull", "runner_up_pull"}
    assert values["answer"]["occupation_id"] == "baker"


def test_a_word_is_named_only_if_it_tells_the_two_apart() -> None:
    named = set()
    for title in ("bread ward", "nurse", "bread bread", "bread baker"):
        explanation = explain(NORMALIZER, title)
        more = max(part.pull - part.runner_up_pull for part in explanation.parts)
        assert (" adds " in explanation.why) == (more >= LEAST_MORE), title
        named.add(" adds " in explanation.why)
    assert named == {True, False}


def test_a_word_alone_pulls_with_all_of_the_score() -> None:
    explanation = explain(NORMALIZER, "nurse")
    assert [split.pull for split in explanation.parts] == [pytest.approx(1.0, abs=1e-5)]


def test_an_abstention_is_explained_by_its_reason() -> None:
    for raw_title, reason in ((None, "null"), ("???", "no letters"), (7, "not text")):
        explanation = explain(NORMALIZER, raw_title)
        assert explanation.why == f"no answer: {reason}"
        assert (explanation.parts, explanation.runner_up_label) == ([], None)


def test_a_long_title_is_explained_by_its_first_words() -> None:
    """Twenty titles of a thousand signs took 15 s, a search for each word."""
    explanation = explain(NORMALIZER, "baker " + "b " * 10**5)
    assert len(explanation.parts) == MOST_WORDS and explanation.parts[0].word == "baker"
