"""The index that all systems search, and the systems as functions of queries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from frames_of import titles_of

from models.encoders.recurrent import RecurrentSettings
from models.network.embedding import embed_titles
from models.network.kinds import fit_featurizer, make_encoder
from models.network.model_files import load_model, save_model
from tasks.evaluation.systems import index_of, network, read_index
from tasks.io.frames import write_frame
from tasks.io.schemas import TITLES
from tasks.pipeline.lexical.params import LexicalParams
from tasks.pipeline.lexical.stage import lexical_systems

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
        assert similarities.shape == (5, 3), name
        assert similarities.dtype == np.float32, name
        assert np.isfinite(similarities).all(), name
        assert similarities[:3].argmax(1).tolist() == [1, 0, 2], name
    assert not np.allclose(answers["untrained"], answers["0"])


def test_network_is_cosine_similarity(model: Path) -> None:
    featurizer, encoder = load_model(model)
    one, other = embed_titles(encoder, featurizer, ["baker", "cook"]).split(1)
    expected = torch.cosine_similarity(one, other).item()
    similarities = network(featurizer, encoder, ["cook", "nurse"])(["baker"])
    assert similarities[0, 0] == pytest.approx(expected, abs=1e-6)
