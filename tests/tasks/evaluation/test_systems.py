"""The index that all systems search, and the systems as functions of queries."""

import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from frames_of import titles_of
from hypothesis import given, settings
from hypothesis import strategies as st

from models.encoders.recurrent import RecurrentSettings
from models.network.embedding import embed_titles
from models.network.kinds import fit_featurizer, load_model, make_encoder, save_model
from tasks.evaluation.systems import TfidfMatcher, index_of, network, read_index
from tasks.io.frames import write_frame
from tasks.io.schemas import TITLES
from tasks.pipeline.lexical import LexicalParams, lexical_systems

ROWS = [("b", "Tutor"), ("a", "tutor "), ("b", "Cook"), ("a", "nurse")]
HELD_OUT = [("a", "Matron", "gate"), ("c", "Smith", "heldout_alias")]


def test_the_index_holds_the_training_titles_alone(tmp_path: Path) -> None:
    """Titles cook, nurse, tutor; a holds nurse and tutor, b holds cook and tutor."""
    frame = titles_of([(*row, "train") for row in ROWS] + HELD_OUT)
    write_frame(frame, tmp_path / "split/titles.parquet", TITLES)
    for index in (index_of(frame), index_of(frame.reverse()), read_index(tmp_path)):
        assert index.titles == ["cook", "nurse", "tutor"]
        assert index.occupations == ["a", "b"]
        assert index.memberships.titles.tolist() == [1, 2, 0, 2]
        assert index.memberships.sizes.tolist() == [2, 2]


def test_a_taxonomy_without_training_titles_is_an_error() -> None:
    with pytest.raises(ValueError, match="no alias: an index needs one title at least"):
        index_of(titles_of(HELD_OUT))


@pytest.fixture
def model(tmp_path: Path, encoder_settings: Callable[..., RecurrentSettings]) -> Path:
    featurizer = fit_featurizer(["cook nurse tutor"], encoder_settings())
    networks = [make_encoder(encoder_settings(), featurizer) for _ in "01"]
    weights, initial = (network.state_dict() for network in networks)
    save_model(tmp_path, featurizer, encoder_settings(), weights, initial)
    (tmp_path / "ignored").touch()
    return tmp_path


@pytest.mark.thorough
def test_every_system_finds_an_alias_by_itself(model: Path) -> None:
    titles = ["cook", "nurse", "tutor"]
    systems = {
        **lexical_systems(titles, LexicalParams(tfidf_orders=[2, 5])),
        "untrained": network(*load_model(model, "initial"), titles),
        "0": network(*load_model(model), titles),
    }
    assert list(systems)[:2] == ["ngram", "tfidf"]
    queries = ["nurse", "cook", "tutor", "👩‍🍳", ""]
    answers = {name: similarities(queries) for name, similarities in systems.items()}
    for name, similarities in answers.items():
        assert (similarities.shape, similarities.dtype) == ((5, 3), np.float32), name
        assert np.isfinite(similarities).all(), name
        assert similarities[:3].argmax(1).tolist() == [1, 0, 2], name
    assert not np.allclose(answers["untrained"], answers["0"])


def test_network_is_cosine_similarity(model: Path) -> None:
    featurizer, encoder = load_model(model)
    one, other = embed_titles(encoder, featurizer, ["baker", "cook"]).split(1)
    expected = torch.cosine_similarity(one, other).item()
    similarities = network(featurizer, encoder, ["cook", "nurse"])(["baker"])
    assert similarities[0, 0] == pytest.approx(expected, abs=1e-6)


INDEXED = ["java developer", "real estate developer", "baker", "bäckerin (m/w/d)", "baker"]


def ngrams(title: str) -> Counter[str]:
    """2 to 5 characters inside each word, which has one space on both sides; short ones once."""
    held: list[str] = []
    for word in title.split():
        padded = f" {word} "
        for n in range(2, 6):
            held += [padded[i : i + n] for i in range(max(len(padded) - n, 0) + 1)]
            if len(padded) <= n:
                break  # scikit-learn counts a word that is shorter than n only once
    return Counter(held)


def cosine(query: str, title: str, titles: list[str]) -> float:
    """(1 + log tf) · (1 + log((1 + N) / (1 + df))), to unit length."""
    held = [ngrams(other) for other in titles]

    def weights(string: str) -> dict[str, float]:
        return {
            gram: (1 + math.log(count)) * (1 + math.log((1 + len(titles)) / (1 + frequency)))
            for gram, count in ngrams(string).items()
            if (frequency := sum(gram in other for other in held))
        }

    a, b = weights(query), weights(title)
    norm = math.hypot(*a.values()) * math.hypot(*b.values())
    return sum(a[gram] * b.get(gram, 0.0) for gram in a) / norm if norm else 0.0


@pytest.mark.thorough
@given(st.lists(st.text("abä ", max_size=8), min_size=1, max_size=3))
@settings(max_examples=30, deadline=None)
def test_equals_the_formula(queries: list[str]) -> None:
    titles = [*INDEXED, "ab ba", "aab"]
    expected = [[cosine(query, title, titles) for title in titles] for query in queries]
    similarities = TfidfMatcher(titles, 2, 5).similarities(queries)
    assert similarities.dtype == np.float32
    np.testing.assert_allclose(similarities, expected, atol=1e-6)


def test_titles_are_compared_as_they_stand() -> None:
    """They are cleaned where they come in, not here."""
    assert not TfidfMatcher(["baker"], 2, 5).similarities(["BAKER"]).any()


def test_no_query() -> None:
    assert TfidfMatcher(INDEXED, 2, 5).similarities([]).shape == (0, len(INDEXED))


@pytest.mark.parametrize("titles", [[], ["", ""]])
def test_an_empty_index_is_an_error(titles: list[str]) -> None:
    with pytest.raises(ValueError, match=f"{len(titles)} titles without a character"):
        TfidfMatcher(titles, 2, 5)


@pytest.mark.parametrize(("smallest", "largest"), [(3, 2), (0, 2)])
def test_sizes_that_cannot_be(smallest: int, largest: int) -> None:
    with pytest.raises(ValueError, match=f"n-grams of {smallest} to {largest} characters"):
        TfidfMatcher(INDEXED, smallest, largest)
