"""The values of a system over the defaults, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from models.network.kinds import kind_of
from models.training.run import TrainSettings
from tasks.io.section import ParamsError, load
from tasks.papers.similarity.similarity_params import SimilarityParams, system_settings
from tasks.pipeline.train.network_params import NetworkParams

ROOT = Path(__file__).parents[4]


def loaded(folder: Path, **similarity: Any) -> tuple[NetworkParams, SimilarityParams]:
    """Load the defaults with values of section `similarity` changed."""
    values = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    values["similarity"] |= similarity
    path = folder / "params.yaml"
    path.write_text(yaml.safe_dump(values), encoding="utf-8")
    return NetworkParams.read(path), load(SimilarityParams, path)


def settings_of(folder: Path, **system: Any) -> TrainSettings:
    """Return those of `lstm`, changed."""
    values = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    systems = values["similarity"]["systems"]
    systems["lstm"] |= system
    return system_settings(*loaded(folder, systems=systems), "lstm", 1)


def test_every_default_system_has_settings(tmp_path: Path) -> None:
    network, params = loaded(tmp_path)
    for name, system in params.systems.items():
        settings = system_settings(network, params, name, 7)
        assert settings.seed == 7
        assert kind_of(settings.encoder) == system.encoder["kind"]
        assert kind_of(settings.loss) == system.loss["kind"]


@pytest.mark.thorough
def test_what_a_system_does_not_name_is_the_sections(tmp_path: Path) -> None:
    """Ignore the titles' own kinds, and `compatible_with`."""
    network, _ = loaded(tmp_path)
    base = network.encoders["attentive"]
    settings = settings_of(
        tmp_path,
        encoder={"kind": "attentive", "unit": "word", "hidden": 3},
        loss={"kind": "regression", "similarity": "cosine"},
        train={"max_steps": 5},
    )
    assert (settings.encoder.unit, settings.encoder.hidden) == ("word", 3)
    assert settings.encoder.dim_unit == base["dim_unit"]
    assert settings.loss.similarity == "cosine"
    assert settings.max_steps == 5
    assert settings.clip_norm == network.train.clip_norm
    assert base["unit"] == "character"  # the section itself is as it was


def test_a_version_to_be_compatible_with_is_the_titles_own(tmp_path: Path) -> None:
    network, params = loaded(tmp_path)
    earlier = network.train.model_copy(update={"compatible_with": "models:/rolecall/1"})
    changed = network._replace(train=earlier)
    assert system_settings(changed, params, "lstm", 1) == system_settings(
        network, params, "lstm", 1
    )


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("system", "words"),
    [
        ({"encoder": {"unit": "word"}}, ["systems.lstm: encoder names no kind"]),
        ({"encoder": {"kind": "transformer"}}, ["lstm.encoder.kind = 'transformer'", "choose"]),
        ({"encoder": {"kind": "attentive", "hiden": 3}}, ["systems.lstm", "hiden", "unknown"]),
        ({"encoder": {"kind": "attentive", "hidden": 0}}, ["systems.lstm", "hidden = 0"]),
        ({"loss": {"kind": "margin", "margin": 3.0}}, ["systems.lstm", "margin = 3"]),
        ({"loss": {"kind": "frozen_margin"}}, ["systems.lstm", "compatible_with"]),
        ({"train": {"max_steps": -1}}, ["systems.lstm.train.max_steps = -1", "greater"]),
        ({"train": {"loss": {"kind": "margin"}}}, ["lstm.train", "'loss'", "take them out"]),
        ({"sorts": 1}, ["systems.lstm.sorts", "unknown parameter"]),
    ],
)
def test_what_cannot_work_is_refused(
    tmp_path: Path, system: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(ParamsError) as error:
        settings_of(tmp_path, **system)
    assert all(word in str(error.value) for word in words), str(error.value)


def test_an_unknown_system_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParamsError, match="no 'gru'; choose attentive_lstm, lstm, ngram_bag"):
        system_settings(*loaded(tmp_path), "gru", 1)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": [1, 1]}, r"seeds \[1, 1\]: the same one twice trains it twice"),
        ({"seeds": []}, r"similarity\.seeds = \[\].*at least 1"),
        ({"systems": {}}, r"similarity\.systems = \{\}.*at least 1"),
        ({"systems": {"Bag of words": {}}}, r"similarity\.systems\.Bag of words.*match pattern"),
        ({"names": ["lstm"]}, r"similarity\.names: unknown parameter"),
    ],
)
def test_systems_and_seeds(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    """A system's name is that of a folder."""
    with pytest.raises(ParamsError, match=message):
        loaded(tmp_path, **changes)
