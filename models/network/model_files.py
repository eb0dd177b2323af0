"""A trained network as files: two of JSON, two of safetensors; no pickle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from safetensors.torch import load_file, save

from models.network.encoder import Encoder
from models.network.kinds import encoder_settings, make_encoder, plain
from models.reproducibility.atomic_write import write_bytes
from models.text.featurizer import Featurizer

if TYPE_CHECKING:
    from torch import Tensor


def save_model(
    folder: Path,
    featurizer: Featurizer,
    settings: Any,  # noqa: ANN401  # the encoder's own class
    weights: dict[str, Tensor],
    initial: dict[str, Tensor],
) -> None:
    """Write `featurizer.json`, `encoder.json`, `weights.safetensors`, `initial.safetensors`."""
    for name, value in (("featurizer", featurizer.values()), ("encoder", plain(settings))):
        text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        write_bytes(text.encode(), folder / f"{name}.json")
    for name, tensors in (("weights", weights), ("initial", initial)):
        write_bytes(save(tensors), folder / f"{name}.safetensors")


def load_model(
    folder: Path, which: Literal["weights", "initial"] = "weights"
) -> tuple[Featurizer, Encoder]:
    """Return featurizer and encoder, trained or of step 0, on the CPU and in evaluation mode."""
    featurizer = Featurizer.from_values(_json(folder / "featurizer.json"))
    encoder = make_encoder(encoder_settings(_json(folder / "encoder.json")), featurizer)
    encoder.load_state_dict(load_file(folder / f"{which}.safetensors"))
    return featurizer, encoder.eval()


def _json(path: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return values
