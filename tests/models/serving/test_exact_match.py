"""Titles of the taxonomy beside a loop over ranks; labels keep their occupation."""

import random
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from served_toy import embed, overrides_of, table, toy_normalizer

from models.serving.clean import NOT_A_JOB_TITLE
from models.serving.confidence import Calibration
from models.serving.exact_match import ExactMatch
from models.serving.index import AliasIndex, StoredVectors
from models.serving.model import Normalizer
from models.serving.prototypes import WeightedVectors
from models.serving.scores import ScoreRule
from models.serving.search import Hits
from models.text.words import TitleWords
from tasks.release.model_package.prototypes import FEW, gathered

UNSURE = Calibration(0.2, [-3.0], [1.0], 2.0)
"""Of a level, the occupation; nothing is called unlike a title."""
TRADES = ["baker", "nurse", "smith", "clerk", "driver", "cook", "tailor", "mason"]


@cache
def crowded(occupations: int) -> Normalizer:
    """Occupations with one title, the label, and a neighbour with many close to it; all shared."""
    rng = random.Random(occupations)
    rows, labels = [], []
    for number in range(occupations // 2):
        label = f"{rng.choice(TRADES)} {number}"
        rows.append((f"a{number:04}", label, label, "en", True, "train"))
        labels.append((f"a{number:04}", label, [], [], 0.0))
        other = f"{label}s"
        for title in (other, label, *(f"{label} {word}" for word in ("a", "b", "c", "d"))):
            rows.append((f"b{number:04}", title, title, "en", title == other, "train"))
        labels.append((f"b{number:04}", other, [], [], 0.05))
    titles = sorted({row[1] for row in rows})
    normalizer = replace(
        toy_normalizer(),
        aliases=table("occupation_id title written language preferred split", rows),
        occupations=table("occupation_id occupation_label codes crosswalk_codes bias", labels),
        embeddings=StoredVectors.of(embed(titles)),
        rule=ScoreRule("soft", 0.2),
    )
    if occupations < FEW:
        return normalizer
    exemplars = normalizer.exemplars_of(normalizer.index)
    links = WeightedVectors.of(normalizer.index, normalizer.rule, exemplars)
    return replace(normalizer, prototypes=gathered(links, normalizer.embeddings[:]))


@pytest.mark.thorough
@pytest.mark.parametrize("occupations", [40, FEW], ids=["exact", "two_stage"])
def test_every_label_is_answered_with_its_own_occupation(occupations: int) -> None:
    """The search alone prefers the neighbour; normalizing what was normalized changes nothing."""
    normalizer = crowded(occupations)
    assert (normalizer.two_stage_search is not None) == (occupations == FEW)
    names, labels = (normalizer.occupations[n] for n in ("occupation_id", "occupation_label"))
    ranked = normalizer.search(labels, 1).occupations[:, 0]
    outvoted = [normalizer.index.occupations[code] for code in ranked] != np.array(names)
    assert outvoted.sum() > occupations / 4
    answers = normalizer.predict(labels)
    assert answers.table["occupation_id"].to_pylist() == names
    assert answers.table["matched_title"].to_pylist() == labels
    again = normalizer.predict(answers.table["occupation_label"].to_pylist())
    assert again.table["occupation_id"].to_pylist() == names


def test_it_has_the_best_score_and_the_others_keep_theirs() -> None:
    normalizer = crowded(40)
    label = normalizer.occupations["occupation_label"][0]
    (plain,) = (hits for _, hits in normalizer.search.blocks([label], 3))
    answer = normalizer.predict([label], top_k=3)[0]
    best, own, third = plain.scores[0, plain.occupations[0]]
    assert answer.top_occupation_ids[:2] == ["a0000", "b0000"]
    assert answer.top_scores == pytest.approx([best, best, third], abs=1e-6)
    assert answer.score_margin == 0 and own < best


@pytest.mark.thorough
@pytest.mark.parametrize("occupations", [40, FEW], ids=["exact", "two_stage"])
def test_what_people_said_comes_first_in_any_spelling_and_obeys_min_confidence(occupations) -> None:
    """Nine titles of one occupation's words are another's; the others' answers stay."""
    normalizer = replace(crowded(occupations), calibration=UNSURE)
    titles = [f"{label} b" for label in normalizer.occupations["occupation_label"][:20:2]]
    before = normalizer.predict(titles)
    assert not set(before.table["occupation_id"].to_pylist()) & {"a0011"}
    overrides = overrides_of(*((title, "a0011") for title in titles[1:]))
    spelled = [title.upper().replace(" ", " - ") for title in titles]
    answers = replace(normalizer, overrides=overrides).predict(spelled, top_k=3)
    assert answers.table["occupation_id"].to_pylist()[1:] == ["a0011"] * 9
    (own,) = {*answers.table["matched_title"].to_pylist()[1:]}
    assert own == normalizer.occupations["occupation_label"][22]
    assert min(answers.table["score"].to_pylist()[1:]) >= 1
    assert answers.table["answered_by"].to_pylist() == ["taxonomy"] + ["review"] * 9
    taught = replace(normalizer, overrides=overrides, calibration=replace(UNSURE, exact=[0.75]))
    assert taught.predict(titles).table["confidence"].to_pylist()[1:] == [0.75] * 9
    for least, abstained in ((0.7, False), (0.8, True)):  # as for every other title
        sure = taught.predict(titles, min_confidence=least)
        assert sure.table["abstained"].to_pylist()[1:] == [abstained] * 9


def test_what_people_call_no_job_title_is_none() -> None:
    normalizer = crowded(40)
    label = normalizer.occupations["occupation_label"][0]
    overrides = overrides_of(("see below", None), ("x", "of another taxonomy"))
    taught = replace(normalizer, overrides=overrides)
    assert taught.predict(["See below!"])[0].reason == NOT_A_JOB_TITLE
    assert taught.predict(["x", label]).table["occupation_id"].to_pylist() == (
        normalizer.predict(["x", label]).table["occupation_id"].to_pylist()
    )


@pytest.mark.thorough
@pytest.mark.parametrize("occupations", [40, FEW], ids=["exact", "two_stage"])
def test_what_people_call_incorrect_is_not_given_to_that_title_again(occupations: int) -> None:
    """One occupation of a title, two of the next; the others move up, and other titles stay."""
    normalizer = replace(crowded(occupations), calibration=UNSURE)
    titles = [f"{label} xb" for label in normalizer.occupations["occupation_label"][:20:2]]
    before = normalizer.predict(titles, top_k=5).table["top_occupation_ids"].to_pylist()
    wrong = [(titles[0], before[0][0]), *((titles[1], name) for name in before[1][:2])]
    wrong.append((titles[2], "of another taxonomy"))
    taught = replace(normalizer, overrides=overrides_of(*wrong, correct=False))
    answers = taught.predict([title.upper() for title in titles], top_k=3)
    expected = [before[0][1:4], before[1][2:], *(names[:3] for names in before[2:])]
    assert answers.table["top_occupation_ids"].to_pylist() == expected
    assert answers.table["answered_by"].to_pylist() == ["model"] * 10
    spelled = taught.predict([titles[0].replace(" ", " - ")], top_k=5)[0]
    assert before[0][0] not in spelled.top_occupation_ids
    assert all(0 < sure < 1 for sure in answers.table["confidence"].to_pylist())


def test_an_occupation_that_people_reject_is_last_where_there_is_no_other_left() -> None:
    taught = replace(toy_normalizer(), overrides=overrides_of(("wards", "warden"), correct=False))
    assert taught.predict(["wards"], top_k=5)[0].top_occupation_ids[-1] == "warden"


def test_a_misspelt_title_that_people_judged_is_not_corrected() -> None:
    """Else the look-up of the right spelling would give the rejected answer again."""
    plain = replace(toy_normalizer(), words=TitleWords({"sister": 9}, {"sister": 9}, {}))
    assert plain.predict(["ward sistr"])[0].answered_by == "taxonomy"
    taught = replace(plain, overrides=overrides_of(("ward sistr", "nurse"), correct=False))
    misspelt, right = taught.predict(["Ward sistr", "ward sister"])
    assert misspelt.occupation_id != "nurse" == right.occupation_id


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_ranks_equal_the_loop(seed: int, depth: int) -> None:
    """The owners first, the others in their order, of scores with ties."""
    rng = np.random.default_rng(seed)
    index = AliasIndex.of([*"aabbccdd"], [*"1223344" + "5"])
    labels = "abbdd"
    exact_match = ExactMatch.of(index, [*labels], overrides_of(("e", "5"), ("d", "1")))
    scores = rng.integers(0, 4, (6, 5)).astype(np.float32)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
    closest = rng.integers(0, 4, best.shape)
    titles = [*"abcdef"]
    owners = {"a": [0], "b": [1, 2], "c": [2, 3], "d": [0], "e": [4]}
    expected, raised = [], scores.copy()
    for row, title in enumerate(titles):
        ranked = [*zip(best[row].tolist(), closest[row].tolist(), strict=True)]
        if own := owners.get(title):
            first = sorted(own, key=lambda name: (-scores[row, name], name))[:depth]
            raised[row, first] = max(scores[row, best[row, 0]], 1 if title in "de" else 0)
            named = [*labels] if title in "de" else [title] * 5
            own_pairs = [(owner, "abcd".index(named[owner])) for owner in first]
            if [owner for owner, _ in ranked[:1]] != first:
                ranked = [*own_pairs, *(pair for pair in ranked if pair[0] not in first)][:depth]
        expected.append(ranked)
    hits = Hits(scores.copy(), best.copy(), closest.copy(), np.zeros(6))
    decisions = exact_match(exact_match.resolve(titles), hits)
    by = {"d": "review", "e": "review", "f": "model"}
    decided = [decisions[row].by if row in decisions else "model" for row in range(len(titles))]
    assert decided == [by.get(title, "taxonomy") for title in titles]
    both = np.stack([hits.occupations, hits.titles], axis=2)
    assert both.tolist() == [[[*pair] for pair in ranked] for ranked in expected]
    np.testing.assert_array_equal(hits.scores, raised)


def test_labels_and_abbreviations_alone_settle_the_answer() -> None:
    """An alias or a letter settles nothing; what ends many titles, a label or not, is none."""
    titles = ["driver", "bus driver", "manager", "baker", "ceo", "keeper", "x"]
    index = AliasIndex.of(titles, [*"ababaaa"])
    endings = {"driver": 99, "manager": 99, "baker": 99, "ceo": 99, "keeper": 3}
    is_label = {(0, "manager")}
    match = ExactMatch.of(
        index,
        ["hearse driver", "baker"],
        overrides_of(("driver", "a")),
        lambda occupation, title: (occupation, index.titles[title]) in is_label,
        endings=endings,
    )
    hits = Hits(np.zeros((7, 2)), np.array([[0, 1]] * 7), np.zeros((7, 2), int), np.zeros(7))
    decisions = match(match.resolve(titles), hits)
    assert [row for row, one in decisions.items() if one.settled] == [0, 3, 4]
    by = dict.fromkeys((1, 3, 4, 5, 6), "taxonomy")
    assert {row: one.by for row, one in decisions.items()} == {0: "review", **by}
    assert hits.occupations[:, 0].tolist() == [0, 1, 0, 1, 0, 0, 0]


def test_owners_of_one_title_share_its_confidence_and_a_label_has_that_of_labels() -> None:
    """The keeper is a nurse's alias and a label; two owners of an alias have half of it each."""
    exemplars = table("title occupation_id weight source", [("loaf hand", "baker", 1.0, "label")])
    plain = toy_normalizer(Calibration(0.06, [9.0] * 3, [0.0] * 3, 99.0))
    taught = replace(
        plain,
        exemplars=exemplars,
        embeddings=StoredVectors.of(embed([*plain.index.titles, "loaf hand"])),
        calibration=replace(plain.calibration, exact=[0.9] * 3, agreement=[0.8, 0.7, 0.6]),
    )
    names = ["BAKER", "bread maker", "Loaf hand", "bread hand"]
    baker, alias, label, model = taught.predict(names)
    assert (baker.answered_by, baker.confidence) == ("taxonomy", 0.9)
    assert (alias.answered_by, alias.confidence) == ("taxonomy", 0.9)  # the network is surer
    unsure = replace(taught.calibration, offsets=[2.0, 2.0, 0.0])
    baker, alias, *_ = replace(taught, calibration=unsure).predict(names)
    assert [baker.confidence, alias.confidence] == pytest.approx([0.9, 0.5])
    assert (label.answered_by, label.confidence) == ("label", 0.6)
    assert label.code_confidences == [0.8, 0.7]
    assert model.answered_by == "model" and model.confidence > 0.99
    more = ("nurse", "bread maker", "bread maker", "en", False, "train")
    columns = zip(taught.aliases.items(), more, strict=True)
    shared = replace(taught, aliases={name: [*values, one] for (name, values), one in columns})
    answer = shared.predict(["bread maker"], min_confidence=0.3)[0]
    assert answer.confidence == pytest.approx(0.45)
    assert set(answer.top_occupation_ids) == {"baker", "nurse"}
    assert shared.predict(["bread maker"], min_confidence=0.5)[0].reason == "low confidence"
