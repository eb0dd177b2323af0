"""A two-stage search beside the exact one, on a made taxonomy of 1,200 occupations."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from served_toy import embed

from models.network.quantization import Precision, pack
from models.search.exemplars import Exemplars
from models.search.index import AliasIndex
from models.search.kernels import MANY
from models.search.occupation_scores import ScoreRule
from models.search.prototypes import AXES, Prototypes
from models.search.search import Hits, Search
from models.search.stored_vectors import StoredVectors, similarities, whole
from models.search.title_places import TitlePlaces
from models.search.two_stage_search import CANDIDATES, DEPTH, TwoStageSearch
from models.search.weighted_vectors import WeightedVectors

OCCUPATIONS = 1200
TEMPERATURE = 0.07
ROUNDED = 2e-3
"""More than the rounding of titles and rows to whole numbers changes a score."""


def words(rng: random.Random) -> str:
    return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 8)))


@cache
def made() -> TwoStageSearch:
    """Occupations of 1 to 25 titles around two words of their own; titles of two occupations.

    English titles weigh fourfold.
    """
    rng = random.Random(1)
    rows = []
    for number in range(OCCUPATIONS):
        own = [words(rng) for _ in range(2)]
        for _ in range(rng.randint(1, 25)):
            rows.append((f"{rng.choice(own)} {words(rng)}", f"o{number:04}"))
        rows.append((rows[rng.randrange(len(rows))][0], f"o{number:04}"))
    languages = [rng.choice(["en", "de"]) for _ in rows]
    index = AliasIndex.of([title for title, _ in rows], [name for _, name in rows], languages)
    drawn = [rng.choice(rows) for _ in range(900)]
    exemplars = {
        "title": [f"{title} {words(rng)}" for title, _ in drawn],
        "occupation_id": [name for _, name in drawn],
        "weight": [rng.uniform(0.01, 0.3) for _ in drawn],
    }
    bias = {f"o{number:04}": rng.uniform(-0.05, 0.03) for number in range(0, OCCUPATIONS, 2)}
    learned = Exemplars.of(index, bias, exemplars, TEMPERATURE)
    table = embed([*index.titles, *learned.titles])
    rule = ScoreRule("soft", TEMPERATURE, {"en": 4.0})
    search = Search(index, lambda titles: similarities(embed(titles), table), rule, learned)
    return TwoStageSearch(search, embed, StoredVectors.of(table), TitlePlaces(index))


@cache
def queries() -> list[str]:
    """Titles of the taxonomy, and such with a word more."""
    rng = random.Random(2)
    known = made().search.index.titles
    return [*rng.sample(known, 300), *(f"{title} {words(rng)}" for title in rng.sample(known, 300))]


def hits(titles: list[str], depth: int = 5) -> Hits:
    return made().hits(titles, depth)


def exact(titles: list[str], depth: int = 5) -> Hits:
    return made().search.hits(titles, depth)


@cache
def everything() -> Hits:
    return hits(queries())


@pytest.mark.thorough
def test_links_score_as_aliases_and_exemplars_do() -> None:
    two_stage, titles = made(), queries()[::20]
    links = two_stage.weighted_vectors
    near = (
        np.exp(embed(titles) @ two_stage.embeddings[links.places].T / TEMPERATURE) * links.weights
    )
    scores = TEMPERATURE * np.log(np.add.reduceat(near, links.starts[:-1], axis=1))
    assert scores == pytest.approx(exact(titles).scores, abs=2e-6)


def test_prototypes_are_fewer_and_say_about_the_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    two_stage = made()
    links = len(two_stage.weighted_vectors.places)
    monkeypatch.setattr("models.search.weighted_vectors.PROTOTYPES", links // 6)
    gathered = Prototypes.of(two_stage.weighted_vectors, two_stage.embeddings[:])
    assert links / 6 < len(gathered.extras) < links / 2
    assert sorted(gathered.occupations.tolist()) == [*range(OCCUPATIONS)]
    assert gathered.ends[-1] == len(gathered.extras) and gathered.axes.shape[1] <= AXES
    titles = queries()[:16]
    off = gathered(whole(embed(titles)), 1)[0] - exact(titles).scores
    assert np.abs(off).mean() < TEMPERATURE / 2 and abs(off.mean()) < TEMPERATURE / 4


def test_links_that_are_all_alike_lose_nothing() -> None:
    """One title many times is its own mean, and has no variance."""
    titles = ["baker", "nurse"]
    index = AliasIndex.of(titles, ["b", "n"])
    exemplars = {
        "title": ["baker", "nurse"],
        "occupation_id": ["b", "n"],
        "weight": [0.5, 0.25],
    }
    learned = Exemplars.of(index, {"n": 0.1}, exemplars, TEMPERATURE)
    table = embed([*index.titles, *learned.titles])
    rule = ScoreRule("soft", TEMPERATURE)
    search = Search(index, lambda asked: similarities(embed(asked), table), rule, learned)
    gathered = Prototypes.of(WeightedVectors.of(search), table)
    assert len(gathered.extras) == 2
    scores = search(["bakers"], 1).scores
    assert gathered(whole(embed(["bakers"])), 1)[0] == pytest.approx(scores, abs=0.015)  # of 7 bits


@pytest.mark.thorough
def test_it_equals_the_exact_search_where_it_must() -> None:
    """Titles of the taxonomy have their best answer, and what is answered its exact score."""
    titles = queries()
    few, all_ = hits(titles), exact(titles)
    known = slice(0, 300)
    assert (few.occupations[known, 0] == all_.occupations[known, 0]).all()
    assert (few.titles[known, 0] == all_.titles[known, 0]).all()
    answered = np.take_along_axis(few.scores, few.occupations, axis=1)
    assert answered == pytest.approx(
        np.take_along_axis(all_.scores, few.occupations, axis=1), abs=ROUNDED
    )
    assert (few.occupations[:, 0] == all_.occupations[:, 0]).mean() > 0.98
    assert few.closest[known] == pytest.approx(all_.closest[known], abs=ROUNDED)


@pytest.mark.thorough
def test_a_title_finds_all_its_owners() -> None:
    two_stage = made()
    index = two_stage.search.index
    shared = [title for title in index.titles if len(index.owners(title)) > 1]
    assert len(shared) > 100
    found, all_ = hits(shared, DEPTH), exact(shared, DEPTH)
    for row, title in enumerate(shared):
        names, scores = found.occupations[row], all_.scores[row]
        others = {*index.owners(title)} - {*names.tolist()}
        assert all(scores[name] <= scores[names].min() + ROUNDED for name in others)


@pytest.mark.thorough
@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 599), min_size=1, max_size=70, unique=True))
def test_any_part_in_any_order_gets_the_same_bits(chosen: list[int]) -> None:
    titles = queries()
    for split, all_ in zip(hits([titles[row] for row in chosen]), everything(), strict=True):
        assert (split == all_[chosen]).all()


@pytest.mark.thorough
def test_answers_are_distinct_candidates_in_the_order_of_their_scores() -> None:
    found = hits(queries(), DEPTH)
    scores = np.take_along_axis(found.scores, found.occupations, axis=1)
    assert (np.diff(scores, axis=1) <= 0).all()
    assert all(len(set(names)) == DEPTH for names in found.occupations.tolist())


@pytest.mark.thorough
def test_lots_are_one_search() -> None:
    lots = [hits(queries()[start : start + 100]) for start in range(0, 600, 100)]
    for split, all_ in zip(zip(*lots, strict=True), everything(), strict=True):
        assert (np.concatenate(split) == all_).all()


@pytest.mark.thorough
def test_scores_lie_in_the_memory_that_is_given() -> None:
    memory = np.empty((len(queries()) + 1, OCCUPATIONS), np.float32)
    found = made().hits(queries(), 5, memory=memory)
    assert np.shares_memory(found.scores, memory)
    for own, all_ in zip(found, everything(), strict=True):
        assert (own == all_).all()


@pytest.mark.thorough
@pytest.mark.parametrize("precision", ["half_byte", "byte", "single"])
def test_kernels_and_numpy_give_the_same_answers(
    precision: Precision,
) -> None:
    numbers = made().embeddings[:]
    if precision != "single":
        numbers = pack(torch.from_numpy(numbers), precision)[0].numpy()
    two_stage = replace(made(), embeddings=StoredVectors.of(numbers))
    one, other = (
        two_stage.hits(titles, DEPTH) for titles in (queries()[:300], queries()[:300] * 7)
    )
    assert len(one.scores) < MANY < len(other.scores)
    compiled = Hits(*(column[:300] for column in other))
    assert compiled.scores == pytest.approx(one.scores, abs=1e-5)
    assert compiled.closest == pytest.approx(one.closest, abs=1e-6)
    differ = compiled.occupations != one.occupations
    near = np.take_along_axis(one.scores, one.occupations, axis=1)
    other_near = np.take_along_axis(one.scores, compiled.occupations, axis=1)
    assert np.abs(near - other_near)[differ].max(initial=0) < 1e-5
    assert (compiled.titles == one.titles)[~differ].all()


@pytest.mark.thorough
@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(0, 599), min_size=1, max_size=70, unique=True))
def test_kernels_give_the_same_bits_in_any_order(chosen: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("models.search.kernels.MANY", 1)
        for part, all_ in zip(
            hits([queries()[row] for row in chosen]), compiled_answers(), strict=True
        ):
            assert (part == all_[chosen]).all()


@cache
def compiled_answers() -> Hits:
    return hits(queries())


def test_more_answers_than_candidates_allow_are_refused() -> None:
    assert DEPTH < CANDIDATES
    with pytest.raises(ValueError, match=f"{DEPTH + 1} answers"):
        made().hits(["x"], DEPTH + 1)
