"""Titles of the taxonomy beside a loop over ranks; labels keep their occupation."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from served_toy import NOTHING, embed, table, toy_normalizer

from models.answer.index import AliasIndex
from models.answer.occupation_scores import ScoreRule
from models.answer.search import Hits
from models.served.lookup import Lookup, owners_of_titles
from models.served.normalizer import Normalizer
from models.served.pruning import FEW

TRADES = ["baker", "nurse", "smith", "clerk", "driver", "cook", "tailor", "mason"]


@cache
def crowded(occupations: int) -> Normalizer:
    """Occupations with one title, the label, and a neighbour with many close to it; all shared."""
    rng = random.Random(occupations)
    rows, labels = [], []
    for number in range(occupations // 2):
        label = f"{rng.choice(TRADES)} {number}"
        rows.append((f"a{number:04}", label, label, "train"))
        labels.append((f"a{number:04}", label, [], [], 0.0))
        other = f"{label}s"
        for title in (other, label, *(f"{label} {word}" for word in ("a", "b", "c", "d"))):
            rows.append((f"b{number:04}", title, title, "train"))
        labels.append((f"b{number:04}", other, [], [], 0.05))
    titles = sorted({row[1] for row in rows})
    return replace(
        toy_normalizer(),
        aliases=table("occupation_id title written split", rows),
        occupations=table("occupation_id occupation_label codes other_codes bias", labels),
        embeddings=embed(titles),
        rule=ScoreRule("soft", 0.2),
    )


@pytest.mark.parametrize("occupations", [40, FEW], ids=["exact", "pruned"])
def test_every_label_is_answered_with_its_own_occupation(occupations: int) -> None:
    """The search alone prefers the neighbour; normalizing what was normalized changes nothing."""
    normalizer = crowded(occupations)
    assert (normalizer.pruned is not None) == (occupations == FEW)
    names, labels = (normalizer.occupations[n] for n in ("occupation_id", "occupation_label"))
    ranked = normalizer.search(labels, 1).occupations[:, 0]
    outvoted = [normalizer.index.occupations[code] for code in ranked] != np.array(names)
    assert outvoted.sum() > occupations / 4
    answers = normalizer.predict(labels)
    assert answers.columns["occupation_id"].tolist() == names
    assert answers.columns["matched_title"].tolist() == labels
    again = normalizer.predict(answers.columns["occupation_label"].tolist())
    assert again.columns["occupation_id"].tolist() == names


def test_it_has_the_best_score_and_the_others_keep_theirs() -> None:
    normalizer = crowded(40)
    label = normalizer.occupations["occupation_label"][0]
    (plain,) = (hits for _, hits in normalizer.search.blocks([label], 3))
    answer = normalizer.predict([label], top_k=3)[0]
    best, own, third = plain.scores[0, plain.occupations[0]]
    assert answer.top_occupation_ids[:2] == ["a0000", "b0000"]
    assert answer.top_scores == pytest.approx([best, best, third], abs=1e-6)
    assert answer.score_margin == 0 and own < best


@pytest.mark.parametrize(("judged", "answer"), [(True, "b0000"), (False, "a0000")])
def test_a_title_that_people_judged_is_left_to_the_search(judged: bool, answer: str) -> None:
    """What the network guesses of it is no word against the taxonomy."""
    normalizer = crowded(40)
    label = normalizer.occupations["occupation_label"][0]
    taught = replace(
        normalizer,
        exemplars=table("title occupation_id weight judged", [(label, "b0000", 1.0, judged)]),
        embeddings=np.concatenate([normalizer.embeddings, embed([label])]),
    )
    assert taught.predict([label])[0].occupation_id == answer
    assert normalizer.predict([label])[0].occupation_id == "a0000"


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_ranks_equal_the_loop(seed: int, depth: int) -> None:
    """The owner first, the others in their order, of scores with ties."""
    rng = np.random.default_rng(seed)
    index = AliasIndex.of([*"aabbccdd"], [*"1223344" + "5"])
    lookup = Lookup.of(index, [*"abxdx"], {"d"})
    scores = rng.integers(0, 4, (6, 5)).astype(np.float32)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
    places = rng.integers(0, 4, best.shape)
    titles = [*"abcde", "a"]
    expected = []
    for row, title in enumerate(titles):
        own = {"a": [0], "b": [1], "c": [2, 3]}.get(title)
        ranked = [*zip(best[row].tolist(), places[row].tolist(), strict=True)]
        if own is not None:
            owner = max(own, key=lambda name: (scores[row, name], -name))
            if owner != ranked[0][0]:
                others = [pair for pair in ranked if pair[0] != owner]
                ranked = [(owner, "abcd".index(title)), *others][:depth]
        expected.append(ranked)
    top = scores.max(axis=1)
    found = lookup(titles, Hits(scores.copy(), best.copy(), places.copy(), np.zeros(6)))
    both = np.stack([found.occupations, found.titles], axis=2)
    assert both.tolist() == [[[*pair] for pair in ranked] for ranked in expected]
    raised = found.scores != scores
    assert (found.scores[raised] == np.broadcast_to(top[:, None], scores.shape)[raised]).all()
    assert raised.sum(axis=1).max() <= 1 and not raised[3:5].any()


def test_owners_of_titles() -> None:
    index = AliasIndex.of(["b", "a", "a"], ["1", "2", "1"])
    assert owners_of_titles(index) == {"a": [0, 1], "b": [0]}
    assert Lookup.of(index, ["b", "a"], NOTHING["title"]).owners == {"a": [1], "b": [0]}
