"""A trained network as files: two of JSON, two of safetensors; no pickle."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from safetensors.torch import load_file, save

from models.featurizer import CharacterFeaturizer
from models.recurrent import RecurrentEncoder, RecurrentSettings
from models.whole_file import write_bytes

if TYPE_CHECKING:
    from torch import Tensor


def save_model(
    folder: Path,
    featurizer: CharacterFeaturizer,
    settings: RecurrentSettings,
    weights: dict[str, Tensor],
    initial: dict[str, Tensor],
) -> None:
    """Write `featurizer.json`, `encoder.json`, `weights.safetensors`, `initial.safetensors`."""
    for name, value in (("featurizer", featurizer), ("encoder", settings)):
        text = json.dumps(asdict(value), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        write_bytes(text.encode(), folder / f"{name}.json")
    for name, tensors in (("weights", weights), ("initial", initial)):
        write_bytes(save(tensors), folder / f"{name}.safetensors")


def load_model(
    folder: Path, which: Literal["weights", "initial"] = "weights"
) -> tuple[CharacterFeaturizer, RecurrentEncoder]:
    """The featurizer and the encoder, on the CPU and in evaluation mode.

    Args:
        folder: as written by `save_model`.
        which: the trained weights, or those of step 0.
    """
    featurizer = CharacterFeaturizer(**_json(folder / "featurizer.json"))
    encoder = RecurrentEncoder(
        RecurrentSettings(**_json(folder / "encoder.json")), featurizer.vocabulary_size
    )
    encoder.load_state_dict(load_file(folder / f"{which}.safetensors"))
    return featurizer, encoder.eval()


def _json(path: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return values
