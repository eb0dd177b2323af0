"""A two-stage search beside the exact one, on a made taxonomy of 1,200 occupations."""

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
from models.serving.index import AliasIndex, StoredVectors, quantized, similarities
from models.serving.prototypes import WeightedVectors
from models.serving.scores import Exemplars, ScoreRule
from models.serving.search import CANDIDATES, DEPTH, Hits, Search, TwoStageSearch
from tasks.release.model_package import prototypes
from tasks.release.model_package.prototypes import AXES, gathered

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
    rule = ScoreRule("soft", TEMPERATURE, {"en": 4.0})
    table = embed([*index.titles, *learned.titles])
    made = gathered(WeightedVectors.of(index, rule, learned), table)
    return TwoStageSearch(index, rule, learned, StoredVectors.of(table), made)


@cache
def queries() -> list[str]:
    """Titles of the taxonomy, and such with a word more."""
    rng = random.Random(2)
    known = made().index.titles
    return [*rng.sample(known, 300), *(f"{title} {words(rng)}" for title in rng.sample(known, 300))]


def hits(titles: list[str], depth: int = 5) -> Hits:
    return made().hits(embed(titles), made().index.positions(titles), depth)


def exact(titles: list[str], depth: int = 5) -> Hits:
    two_stage = made()
    table = two_stage.embeddings[:]
    search = Search(
        two_stage.index,
        lambda asked: similarities(embed(asked), table),
        two_stage.rule,
        two_stage.exemplars,
    )
    return search.hits(titles, depth)


@cache
def everything() -> Hits:
    return hits(queries())


@pytest.mark.thorough
def test_links_score_as_aliases_and_exemplars_do() -> None:
    two_stage, titles = made(), queries()[::20]
    links = two_stage.links
    near = (
        np.exp(embed(titles) @ two_stage.embeddings[links.positions].T / TEMPERATURE)
        * links.weights
    )
    scores = TEMPERATURE * np.log(np.add.reduceat(near, links.starts[:-1], axis=1))
    assert scores == pytest.approx(exact(titles).scores, abs=2e-6)


def test_prototypes_are_fewer_and_say_about_the_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    two_stage = made()
    links = len(two_stage.links.positions)
    monkeypatch.setattr(prototypes, "PROTOTYPES", links // 6)
    few = gathered(two_stage.links, two_stage.embeddings[:])
    assert links / 6 < len(few.extras) < links / 2
    assert sorted(few.occupations.tolist()) == [*range(OCCUPATIONS)]
    assert few.ends[-1] == len(few.extras) and few.axes.shape[1] <= AXES
    titles = queries()[:16]
    memory = np.empty((16, OCCUPATIONS), np.float32)
    off = few(quantized(embed(titles)), 1, memory)[0] - exact(titles).scores
    assert np.abs(off).mean() < TEMPERATURE / 2 and abs(off.mean()) < TEMPERATURE / 4


def test_links_that_are_all_alike_lose_nothing() -> None:
    """One title many times is its own mean, and has no variance."""
    titles = ["baker", "nurse"]
    index = AliasIndex.of(titles, ["b", "n"])
    exemplars = {"title": ["baker", "nurse"], "occupation_id": ["b", "n"], "weight": [0.5, 0.25]}
    learned = Exemplars.of(index, {"n": 0.1}, exemplars, TEMPERATURE)
    table = embed([*index.titles, *learned.titles])
    rule = ScoreRule("soft", TEMPERATURE)
    search = Search(index, lambda asked: similarities(embed(asked), table), rule, learned)
    made = gathered(WeightedVectors.of(index, rule, learned), table)
    assert len(made.extras) == 2
    scores = search(["bakers"], 1).scores
    own = made(quantized(embed(["bakers"])), 1, np.empty((1, 2), np.float32))[0]
    assert own == pytest.approx(scores, abs=0.015)  # of 7 bits


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
    assert few.top_similarity[known] == pytest.approx(all_.top_similarity[known], abs=ROUNDED)


@pytest.mark.thorough
def test_a_title_finds_all_its_owners() -> None:
    two_stage = made()
    index = two_stage.index
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
def test_batches_are_one_search_and_memory_is_used_again() -> None:
    batches = []
    for start in range(0, 600, 100):
        found = hits(queries()[start : start + 100])
        batches.append(Hits(*(column.copy() for column in found)))
        made().free(found)
    for part, all_ in zip(zip(*batches, strict=True), everything(), strict=True):
        assert (np.concatenate(part) == all_).all()
    again = hits(queries()[:10])
    assert np.shares_memory(again.scores, found.scores)


@pytest.mark.thorough
@pytest.mark.parametrize("precision", ["half_byte", "byte"])
def test_packed_rows_give_the_scores_of_their_floats(precision: Precision) -> None:
    numbers = pack(torch.from_numpy(made().embeddings[:]), precision)[0].numpy()
    packed = replace(made(), embeddings=StoredVectors.of(numbers))
    floats = replace(made(), embeddings=StoredVectors.of(packed.embeddings[:]))
    vectors, names = embed(queries()[:50]), [*range(0, OCCUPATIONS, 7)]
    assert packed.scores(vectors, names) == pytest.approx(floats.scores(vectors, names), abs=2e-3)


def test_more_answers_than_candidates_allow_are_refused() -> None:
    assert DEPTH < CANDIDATES
    with pytest.raises(ValueError, match=f"{DEPTH + 1} answers"):
        hits(["x"], DEPTH + 1)
