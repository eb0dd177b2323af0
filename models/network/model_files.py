"""A trained network as files: two of JSON, two of safetensors; no pickle."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from safetensors.torch import load_file, save_file

from models.network.encoder import Encoder
from models.network.kinds import encoder_settings, make_encoder, plain
from models.reproducibility.atomic_write import atomic_write, write_bytes
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
        write_bytes(f"{_indented(value)}\n".encode(), folder / f"{name}.json")
    for name, tensors in (("weights", weights), ("initial", initial)):
        with atomic_write(folder / f"{name}.safetensors") as unfinished:
            save_file(tensors, unfinished)


def load_model(
    folder: Path, which: Literal["weights", "initial"] = "weights"
) -> tuple[Featurizer, Encoder]:
    """Return featurizer and encoder, trained or of step 0, on the CPU and in evaluation mode."""
    featurizer = Featurizer.from_values(_json(folder / "featurizer.json"))
    settings = encoder_settings(_json(folder / "encoder.json"))
    weights = load_file(folder / f"{which}.safetensors")
    return featurizer, make_encoder(settings, featurizer, weights).eval()


def _json(path: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return values


def _indented(value: Any, end: str = "\n") -> str:  # noqa: ANN401
    """Write JSON with sorted keys and an indent of 1; a list holds dicts, or plain values.

    Python's own encoder of indented JSON takes seconds for the units of a vocabulary.
    """
    write, inner = partial(json.dumps, ensure_ascii=False), f"{end} "
    if isinstance(value, dict) and value:
        parts = [f"{write(name)}: {_indented(value[name], inner)}" for name in sorted(value)]
        return f"{{{inner}{f',{inner}'.join(parts)}{end}}}"
    if isinstance(value, list | tuple) and value and isinstance(value[0], dict):
        parts = [_indented(one, inner) for one in value]
        return f"[{inner}{f',{inner}'.join(parts)}{end}]"
    if isinstance(value, list | tuple) and value:
        return f"[{inner}{write(value, separators=(f',{inner}', ': '))[1:-1]}{end}]"
    return write(value)
