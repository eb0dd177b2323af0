"""The index of aliases, and the systems as functions of queries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch

from models.embedding import embed_titles
from models.encoders.recurrent import RecurrentSettings
from models.kinds import fit_featurizer, make_encoder
from models.model_files import load_model, save_model
from tasks.alias_index import AliasIndex
from tasks.lexical import lexical_systems
from tasks.schemas import SPLIT_ALIASES
from tasks.sections import LexicalParams
from tasks.systems import network_systems

ROWS = [("b", "Tutor"), ("a", "tutor "), ("b", "Cook"), ("a", "nurse")]
ALIASES = pl.DataFrame(
    [(occupation, title, False, "train") for occupation, title in ROWS],
    schema=dict(SPLIT_ALIASES),
    orient="row",
)


def test_index() -> None:
    """Titles cook, nurse, tutor; a holds nurse and tutor, b holds cook and tutor."""
    index = AliasIndex.of(ALIASES)
    assert index.titles == ["cook", "nurse", "tutor"]
    assert index.occupations == ["a", "b"]
    assert index.memberships.titles.tolist() == [1, 2, 0, 2]
    assert index.memberships.sizes.tolist() == [2, 2]
    assert index.codes([["b", "a"], ["x"], ["x", "a"], []]) == [[1, 0], [], [0], []]


def test_titles_that_numpy_would_cut_or_inflate() -> None:
    """A string array drops NULs at the end and gives each title the room of the longest."""
    long = "x" * 10_000
    frame = pl.DataFrame({"occupation_id": ["a", "a", "b"], "title": ["n\x00", "n", long]})
    assert AliasIndex.of(frame).titles == ["n", "n\x00", long]


@pytest.fixture
def model(tmp_path: Path, encoder_settings: Callable[..., RecurrentSettings]) -> Path:
    featurizer = fit_featurizer(["cook nurse tutor"], encoder_settings())
    networks = [make_encoder(encoder_settings(), featurizer) for _ in "01"]
    weights, initial = (network.state_dict() for network in networks)
    save_model(tmp_path, featurizer, encoder_settings(), weights, initial)
    (tmp_path / "ignored").touch()
    return tmp_path


def test_every_system_finds_an_alias_by_itself(model: Path) -> None:
    titles = AliasIndex.of(ALIASES).titles
    systems = {
        **lexical_systems(titles, LexicalParams(tfidf_orders=[2, 5])),
        **network_systems(model, "0", titles),
    }
    assert list(systems) == ["ngram", "tfidf", "untrained", "0"]
    queries = ["Nurse", "COOK", "tutor ", "👩‍🍳", ""]
    found = {name: similarities(queries) for name, similarities in systems.items()}
    for name, similarities in found.items():
        assert similarities.shape == (5, 3), name
        assert similarities.dtype == np.float32, name
        assert np.isfinite(similarities).all(), name
        assert similarities[:3].argmax(1).tolist() == [1, 0, 2], name
    assert not np.allclose(found["untrained"], found["0"])


def test_network_is_cosine_similarity(model: Path) -> None:
    featurizer, encoder = load_model(model)
    one, other = embed_titles(encoder, featurizer, ["baker", "cook"]).split(1)
    expected = torch.cosine_similarity(one, other).item()
    found = network_systems(model, "4c", ["cook", "nurse"])["4c"](["baker"])
    assert found[0, 0] == pytest.approx(expected, abs=1e-6)
