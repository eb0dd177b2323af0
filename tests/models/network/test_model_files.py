"""A network written and read again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from models.encoders.recurrent import RecurrentSettings
from models.network.embedding import embed_titles
from models.network.kinds import fit_featurizer, make_encoder, plain
from models.network.model_files import load_model, save_model

TITLES = ["bäcker", "c++ 👩‍🍳", ""]


def test_round_trip(tmp_path: Path, encoder_settings: Callable[..., RecurrentSettings]) -> None:
    settings = encoder_settings(layers=2, dropout_between=0.4)
    featurizer = fit_featurizer(TITLES, settings)
    networks = [make_encoder(settings, featurizer) for _ in range(2)]
    trained, initial = (network.state_dict() for network in networks)
    save_model(tmp_path, featurizer, settings, trained, initial)
    names = ["encoder.json", "featurizer.json", "initial.safetensors", "weights.safetensors"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    for name, values in (("featurizer", featurizer.values()), ("encoder", plain(settings))):
        text = json.dumps(values, indent=1, sort_keys=True, ensure_ascii=False)
        assert (tmp_path / f"{name}.json").read_text() == f"{text}\n"
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for which, network in zip(("weights", "initial"), networks, strict=True):
        loaded, encoder = load_model(tmp_path, which)  # type: ignore[arg-type]
        assert loaded == featurizer
        assert encoder.settings == settings
        assert not encoder.training
        expected = embed_titles(network, featurizer, TITLES)
        assert torch.equal(embed_titles(encoder, loaded, TITLES), expected)
    save_model(tmp_path, featurizer, settings, trained, initial)
    assert before == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"featurizer\.json"):
        load_model(tmp_path)
