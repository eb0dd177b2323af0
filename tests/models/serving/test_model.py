"""Answers against plain loops, with an embedding that counts pairs of letters; abstentions."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from served_toy import ALIASES, OCCUPATIONS, RULE, TORN, embed, table, toy_normalizer

from models.serving.confidence import Calibration
from models.serving.index import AliasIndex, StoredVectors
from models.serving.model import Normalizer
from models.serving.scores import ScoreRule
from models.text.titles import clean_title

RULES = [RULE, ScoreRule("soft", 0.06)]


@pytest.fixture(scope="module")
def normalizer() -> Normalizer:
    return toy_normalizer()


def scores_by_loop(query: str, titles: set[str], rule: ScoreRule) -> dict[str, float]:
    """Return max of dot products, or t·log Σ exp(s/t) − ½·t·log n, over distinct titles."""
    scores = {}
    for name, *_ in OCCUPATIONS:
        held = sorted({clean_title(title) for owner, title, _ in ALIASES if owner == name} & titles)
        values = np.array([float(embed([query])[0] @ embed([title])[0]) for title in held])
        soft = 0.06 * (np.log(np.exp(values / 0.06).sum()) - 0.5 * np.log(len(held)))
        scores[name] = values.max() if rule.kind == "best" else soft
    return scores


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
def test_answers_equal_the_loops(normalizer: Normalizer, rule: ScoreRule) -> None:
    normalizer = replace(normalizer, rule=rule)
    raw_titles = ["baker", "Nurse!", "breadmaker", "keeper of bread", "911", "  WARD\tbaker "]
    everything = set(normalizer.index.titles)
    for raw_title, answer in zip(raw_titles, normalizer.predict(raw_titles, 3), strict=True):
        scores = scores_by_loop(clean_title(raw_title), everything, rule)
        expected = sorted(scores, key=lambda name: -scores[name])
        assert answer.top_occupation_ids == expected
        assert answer.top_scores == pytest.approx([scores[n] for n in expected], abs=1e-5)
        assert answer.occupation_id == expected[0] and answer.score == answer.top_scores[0]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
def test_a_search_within_another_index_equals_the_loops(normalizer, rule) -> None:
    """What the gate asks: the split `train` only, with the model's own rule and embeddings."""
    train = [(clean_title(title), name) for name, title, split in ALIASES if split == "train"]
    index = AliasIndex.of(*map(list, zip(*train, strict=True)))
    assert index.titles == ["baker", "bread maker", "keeper", "nurse"]
    within = replace(normalizer, rule=rule).within(index)
    queries = ["ward sister", "911 baker", "keeper"]
    assert within.index is index
    for row, query in zip(within(queries, 3).scores, queries, strict=True):
        expected = scores_by_loop(query, set(index.titles), rule)
        assert dict(zip(index.occupations, row.tolist(), strict=True)) == pytest.approx(
            expected, abs=1e-5
        )


def test_an_index_with_a_title_of_another_taxonomy_is_refused(normalizer: Normalizer) -> None:
    with pytest.raises(KeyError, match="stranger"):
        normalizer.within(AliasIndex.of(["baker", "stranger"], ["baker", "baker"]))


def test_a_title_of_the_taxonomy_is_found_as_it_is_written(normalizer: Normalizer) -> None:
    """Of several occupations that have it the one that is called so."""
    for occupation, title, _ in ALIASES:
        answer = normalizer.predict([title.upper()], top_k=3)[0]
        tied = [o for o, t, _ in ALIASES if clean_title(t) == clean_title(title)]
        called = [o for o, label, *_ in OCCUPATIONS if clean_title(label) == clean_title(title)]
        assert answer.occupation_id == min(called or tied)
        assert answer.score == pytest.approx(1.0, abs=1e-5)
        written = dict(zip(answer.top_occupation_ids, answer.top_titles, strict=True))
        first = next(
            t for o, t, _ in ALIASES if o == occupation and clean_title(t) == clean_title(title)
        )
        assert written[occupation] == first


def test_label_codes_and_confidence(normalizer: Normalizer) -> None:
    answer = normalizer.predict(["BAKER"])[0]
    assert (answer.occupation_label, answer.codes) == ("Baker", ["7", "75"])
    assert answer.confidence is None and answer.reason == "uncalibrated"
    assert len(answer.top_titles) == 2  # the model's own top_k


@pytest.mark.parametrize(
    ("raw_title", "reason"),
    [
        (None, "null"),
        (float("nan"), "null"),
        (np.float32("nan"), "null"),
        (12, "not text"),
        (1.5, "not text"),
        (b"baker", "not text"),
        (["baker"], "not text"),
        (np.array([1.0, 2.0]), "not text"),
        ("", "empty"),
        (" \t\u00a0\n", "empty"),
        ("🍞🔥", "no letters"),
        ("123 !?", "no letters"),
        ("١٢٣", "no letters"),
        ("\u200b", "no letters"),
        ("911", None),  # a title of the taxonomy
        ("\ud800", "no letters"),
        ("面包师", "unknown letters"),
        ("\ud800 baker", None),
        ("面包师 baker", None),
        ("x" * 900 + "a", None),
        ("x" * 10_000 + "a", "unknown letters"),  # cut
    ],
)
def test_an_answer_or_a_reason(normalizer, raw_title, reason) -> None:
    answer = normalizer.predict(["nurse", raw_title, "baker"], top_k=1)
    assert [row.occupation_id for row in (answer[0], answer[2])] == ["nurse", "baker"]
    middle = answer[1]
    assert middle.reason == (reason or "uncalibrated")
    assert (middle.occupation_id is None) == (reason is not None)
    assert (middle.score is None) == (reason is not None)
    assert len(middle.top_scores) == (0 if reason else 1)


@pytest.mark.thorough
@given(st.lists(st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=30)), max_size=6))
@settings(deadline=None, max_examples=60)
def test_one_row_per_row(normalizer: Normalizer, raw_titles: list[object]) -> None:
    answers = normalizer.predict(raw_titles)
    assert len(answers) == len(raw_titles)
    for answer in answers:
        assert (answer.occupation_id is None) == (answer.score is None)
        assert answer.reason is not None and answer.confidence is None


def test_an_answer_does_not_depend_on_its_block(normalizer: Normalizer) -> None:
    many = ["nurse", "bread", "keeper of bread"] * 200  # several blocks
    alone = [normalizer.predict([title])[0] for title in many[:3]]
    for number, answer in enumerate(normalizer.predict(many)):
        assert answer.top_occupation_ids == alone[number % 3].top_occupation_ids
        assert answer.score == pytest.approx(alone[number % 3].score, abs=1e-5)


def test_more_answers_than_occupations_are_all(normalizer: Normalizer) -> None:
    assert len(normalizer.predict(["baker"], top_k=99, min_confidence=0.0)[0].top_scores) == 3


def test_a_calibrated_model_says_how_sure_it_is(normalizer: Normalizer) -> None:
    """At each level of the answer's own hierarchy, and only if it is sure enough."""
    calibration = Calibration(0.06, [0.0] * 3, [1.0] * 3, -0.3)
    calibrated = replace(normalizer, calibration=calibration)
    baker, keeper, strange = calibrated.predict(["baker", "keeper", "tmtmtm"])
    assert baker.reason is None and len(baker.code_confidences) == 2
    assert 0.9 < baker.confidence <= baker.code_confidences[1] <= baker.code_confidences[0] < 1
    assert keeper.confidence == pytest.approx(0.5, abs=0.01)  # a title of two occupations
    assert (strange.reason, strange.occupation_id) == ("unknown words", None)
    unsure = calibrated.predict(["baker", "keeper"], min_confidence=0.8)
    assert [answer.reason for answer in unsure] == [None, "low confidence"]
    assert unsure[1].top_scores == [] and unsure[1].confidence is None


def test_a_rejected_title_says_whether_the_taxonomy_has_its_words(normalizer: Normalizer) -> None:
    calibrated = replace(normalizer, calibration=Calibration(0.06, [0.0] * 3, [1.0] * 3, -9.0))
    foreign, known, short = calibrated.predict(["keramiker", "bakery of the baker", "ab a"])
    assert (foreign.reason, known.reason) == ("unknown words", "not a job title")
    assert short.reason == "not a job title"  # letters, and no word


VAGUE = Calibration(0.06, [1.68, 0.68, -0.34], [1.0] * 3, 0.0)
"""Of `TORN` the first code has .88, the second .73, and the occupation just below .5."""


def test_the_narrowest_code_that_is_sure(normalizer: Normalizer) -> None:
    """`TORN` is between a baker and a nurse, "keeper" belongs to two occupations."""
    calibrated = replace(normalizer, calibration=VAGUE)
    for least, code in ((None, "75"), (0.6, "75"), (0.8, "7"), (0.95, None)):
        vague = calibrated.predict([TORN], min_confidence=least)[0]
        assert vague.best_confident_code == code
        assert (vague.abstained, vague.reason) == (
            (False, None) if least is None else (True, "low confidence")
        )
    sure, without_codes = calibrated.predict(["baker", "911"])
    assert sure.best_confident_code == "baker" and without_codes.best_confident_code == "warden"
    assert normalizer.predict(["baker"])[0].best_confident_code is None


def test_levels_are_what_is_wanted_and_what_has_to_be_sure(normalizer: Normalizer) -> None:
    calibrated = replace(normalizer, calibration=VAGUE)
    assert calibrated.predict([TORN], min_confidence=0.6)[0].abstained
    deep = calibrated.predict([TORN], min_confidence=0.6, code_depth=2)[0]
    assert (deep.occupation_id, deep.codes, deep.abstained) == ("baker", ["7", "75"], False)
    assert calibrated.predict([TORN], min_confidence=0.8, code_depth=2)[0].abstained
    broad = calibrated.predict([TORN], min_confidence=0.8, code_depth=1)[0]
    assert broad.codes == ["7"] and broad.code_confidences == [pytest.approx(0.88, abs=0.005)]


def test_margin_and_the_words_that_decide(normalizer: Normalizer) -> None:
    """Of one alias of two occupations the labels tell; what is far apart needs no telling."""
    keeper, baker = normalizer.predict(["keeper", "baker"], top_k=3)
    assert keeper.score_margin == pytest.approx(0.0, abs=1e-6)
    assert keeper.score_margin == pytest.approx(keeper.top_scores[0] - keeper.top_scores[1])
    assert (keeper.distinguishing_words, keeper.runner_up_words) == (["keeper"], ["nurse"])
    assert baker.score_margin > 0.4
    assert baker.distinguishing_words == baker.runner_up_words == []
    near = replace(normalizer, rule=ScoreRule("best", 9.0)).predict(["bread ward"], top_k=1)[0]
    assert near.distinguishing_words == ["bread", "maker"]
    assert near.runner_up_words == ["ward", "sister"]
    assert near.score_margin > 0 and len(near.top_scores) == 1


@pytest.mark.thorough
@given(st.lists(st.text(max_size=20), max_size=5), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=40)
def test_a_permuted_input_permutes_the_output(normalizer, raw_titles, draw) -> None:
    order = list(range(len(raw_titles)))
    draw.shuffle(order)
    answers = normalizer.predict(raw_titles)
    for row, answer in zip(order, normalizer.predict([raw_titles[o] for o in order]), strict=True):
        assert answer[:4] == answers[row][:4] and answer.reason == answers[row].reason
        assert answer.top_scores == pytest.approx(answers[row].top_scores, abs=1e-5)


def test_an_exemplar_is_one_more_alias(normalizer: Normalizer) -> None:
    """Within another index too; what stands beside it keeps its answer."""
    exemplars = table("title occupation_id weight source", [("ovenhand", "baker", 1.0, "label")])
    embeddings = StoredVectors.of(embed([*normalizer.index.titles, "ovenhand"]))
    taught = replace(normalizer, exemplars=exemplars, embeddings=embeddings)
    assert taught.predict(["ovenhand"])[0].score == pytest.approx(1.0, abs=1e-4)
    assert taught.predict(["ovenhand"])[0].occupation_id == "baker"
    assert taught.predict(["ward sister"])[0][:5] == normalizer.predict(["ward sister"])[0][:5]
    within = taught.within(AliasIndex.of(["bread maker", "nurse"], ["baker", "nurse"]))
    assert within(["ovenhand"], 1).scores[0, 0] == pytest.approx(1.0, abs=1e-4)


def test_batches_in_threads_give_the_table_of_one_batch(normalizer, monkeypatch) -> None:
    titles = ["Head baker, nights", None, "???", "nurse", "ward sister", 7, "", "baker"] * 3
    whole = normalizer.predict(titles).table
    monkeypatch.setattr("models.serving.model.BATCH", 5)
    parts = normalizer.predict(titles).table
    assert parts.equals(whole) and parts["reason"].num_chunks > 1


def test_qualifiers_and_versions_stand_in_abstentions_too(normalizer: Normalizer) -> None:
    answers = list(normalizer.predict(["Head baker, nights", "???", None, "911 Nights"]))
    assert [answer.seniority for answer in answers] == [["Head"], [], [], []]
    assert [answer.contract for answer in answers] == [["nights"], [], [], ["Nights"]]
    assert {(answer.model_version, answer.taxonomy_version) for answer in answers} == {("m1", "t1")}
    assert [answer.crosswalk_codes for answer in answers][:2] == [["SOC: 51-3011"], []]
