"""The values of a system over the defaults, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from models.kinds import kind_of
from tasks.params import AllParams, ParamsError, load_params
from tasks.similarity_params import system_settings

ROOT = Path(__file__).parents[2]


def load(folder: Path, **system: Any) -> AllParams:
    """The defaults, with `lstm` changed."""
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    params["similarity"]["systems"]["lstm"] |= system
    (folder / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    return load_params(folder / "params.yaml")


def test_every_default_system_has_settings() -> None:
    params = load_params(ROOT / "params.yaml")
    for name, system in params.similarity.systems.items():
        settings = system_settings(params, name, 7)
        assert settings.seed == 7
        assert kind_of(settings.encoder) == system.encoder["kind"]
        assert kind_of(settings.loss) == system.loss["kind"]


def test_what_a_system_does_not_name_is_the_sections(tmp_path: Path) -> None:
    """And the titles' own kinds, and `compatible_with`, play no part."""
    params = load(
        tmp_path,
        encoder={"kind": "attentive", "unit": "word", "hidden": 3},
        loss={"kind": "regression", "similarity": "cosine"},
        train={"max_steps": 5},
    )
    earlier = params.train.model_copy(update={"compatible_with": "models:/rolecall/1"})
    settings = system_settings(params.model_copy(update={"train": earlier}), "lstm", 1)
    base = params.encoders["attentive"]
    assert (settings.encoder.unit, settings.encoder.hidden) == ("word", 3)
    assert settings.encoder.dim_unit == base["dim_unit"]
    assert settings.loss.similarity == "cosine"
    assert settings.max_steps == 5
    assert settings.clip_norm == params.train.clip_norm
    assert base["unit"] == "character"  # the section itself is as it was


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
        system_settings(load(tmp_path, **system), "lstm", 1)
    assert all(word in str(error.value) for word in words), str(error.value)


def test_an_unknown_system_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParamsError, match="no 'gru'; choose attentive_bilstm, attentive"):
        system_settings(load(tmp_path), "gru", 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"names": ["lstm", "gru"]}, r"names \['gru'\] are no systems; choose attentive_bilstm"),
        ({"names": ["lstm", "lstm"]}, "the same one twice trains it twice"),
        ({"seeds": [1, 1]}, r"seeds \[1, 1\]: the same one twice"),
        ({"seeds": []}, r"similarity\.seeds = \[\].*at least 1"),
    ],
)
def test_names_and_seeds(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    params["similarity"] |= changes
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    with pytest.raises(ParamsError, match=message):
        load_params(tmp_path / "params.yaml")
