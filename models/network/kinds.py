"""Networks by kind: settings from plain values, encoders from settings, networks as files.

The name of a kind is that of its file, and stands nowhere else. A trained network is a folder:
`featurizer.json`, `encoder.json`, `weights.safetensors` and, of step 0, `initial.safetensors`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import MISSING, asdict, fields
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import torch
from safetensors.torch import load_file, save_file
from torch.overrides import TorchFunctionMode

from models.network.encoder import Encoder
from models.network.loss import LossFunction, LossSettings
from models.reproducibility import atomic_write, write_bytes
from models.text.featurizer import Featurizer

if TYPE_CHECKING:
    from torch import Tensor


def kinds(package: str) -> list[str]:
    """List the kinds in `encoders` or `losses`, sorted."""
    return sorted(path.stem for path in (Path(__file__).parents[1] / package).glob("[!_]*.py"))


def encoder_class(kind: str) -> type[Encoder]:
    """Return the encoder of this kind; the ValueError for an unknown one lists all."""
    encoder: type[Encoder] = _module("encoders", kind).ENCODER
    return encoder


def loss_parts(kind: str) -> tuple[type[LossSettings], LossFunction]:
    """Return settings and function of the loss of this kind; raises as `encoder_class`."""
    module = _module("losses", kind)
    return module.SETTINGS, module.LOSS


def kind_of(settings: Any) -> str:  # noqa: ANN401
    """Return the kind whose settings these are: the name of the file that holds their class."""
    return type(settings).__module__.rpartition(".")[2]


def plain(settings: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return `kind` and the settings as values that JSON can hold."""
    return {"kind": kind_of(settings), **asdict(settings)}


def encoder_settings(values: dict[str, Any]) -> Any:  # noqa: ANN401
    """Make an encoder's settings from `kind` and its values; ValueError if one is refused."""
    return _settings(encoder_class(values["kind"]).Settings, values)


def loss_settings(values: dict[str, Any]) -> LossSettings:
    """Make the settings of a loss from `kind` and its values; raises as `encoder_settings`."""
    settings: LossSettings = _settings(loss_parts(values["kind"])[0], values)
    return settings


def make_encoder(
    settings: Any,  # noqa: ANN401
    featurizer: Featurizer,
    weights: dict[str, Tensor] | None = None,
) -> Encoder:
    """Make an encoder for the ids that `featurizer` gives, with new weights or these, uncopied."""
    encoder = encoder_class(kind_of(settings))
    if weights is None:
        return encoder(settings, featurizer.sizes)
    with torch.device("meta"), _Undrawn():
        made = encoder(settings, featurizer.sizes)
    made.load_state_dict(weights, assign=True)
    return made


class _Undrawn(TorchFunctionMode):
    """Draws no weights: large ones take seconds, and on `meta` torch would load its compiler."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        if getattr(func, "__module__", "") == "torch.nn.init" or func == torch.Tensor.uniform_:
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs or {})


def fit_featurizer(titles: Sequence[str], settings: Any) -> Featurizer:  # noqa: ANN401
    """Fit the featurizer of an encoder with these settings on cleaned training titles."""
    return Featurizer.fit(titles, encoder_class(kind_of(settings)).units(settings))


def save_model(
    folder: Path,
    featurizer: Featurizer,
    settings: Any,  # noqa: ANN401  # the encoder's own class
    weights: dict[str, Tensor],
    initial: dict[str, Tensor],
) -> None:
    """Write a network's files, each whole or not at all."""
    for name, value in (("featurizer", featurizer.values()), ("encoder", plain(settings))):
        write_bytes(f"{_indented(value)}\n".encode(), folder / f"{name}.json")
    for name, tensors in (("weights", weights), ("initial", initial)):
        with atomic_write(folder / f"{name}.safetensors") as unfinished:
            save_file(tensors, unfinished)


def load_model(
    folder: Path, which: Literal["weights", "initial"] = "weights"
) -> tuple[Featurizer, Encoder]:
    """Return featurizer and encoder, trained or of step 0, on the CPU and in evaluation mode."""
    files = (folder / "featurizer.json", folder / "encoder.json")
    fitted, shape = (json.loads(file.read_text(encoding="utf-8")) for file in files)
    featurizer = Featurizer.from_values(fitted)
    weights = load_file(folder / f"{which}.safetensors")
    return featurizer, make_encoder(encoder_settings(shape), featurizer, weights).eval()


def _settings(settings: type[Any], values: dict[str, Any]) -> Any:  # noqa: ANN401
    own = {name: value for name, value in values.items() if name != "kind"}
    known = {field.name for field in fields(settings)}
    # a file of before a field was there lacks it, so the field has a default
    optional = {field.name for field in fields(settings) if field.default is not MISSING}
    if wrong := sorted((known ^ own.keys()) - (optional - own.keys())):
        raise ValueError(f"{values['kind']} has the values {sorted(known)}; check {wrong}")
    return settings(**{name: tuple(v) if isinstance(v, list) else v for name, v in own.items()})


def _module(package: str, kind: str) -> Any:  # noqa: ANN401
    if kind not in kinds(package):
        raise ValueError(f"{package} have no kind {kind!r}; choose {', '.join(kinds(package))}")
    return import_module(f"models.{package}.{kind}")


def _indented(value: Any, end: str = "\n") -> str:  # noqa: ANN401
    """Write JSON with sorted keys and an indent of 1; a list holds dicts, or plain values.

    Python's own encoder of indented JSON takes seconds for the units of a vocabulary.
    """
    write, inner = partial(json.dumps, ensure_ascii=False), f"{end} "
    if isinstance(value, dict) and value:
        parts = [f"{write(name)}: {_indented(value[name], inner)}" for name in sorted(value)]
        return f"{{{inner}{f',{inner}'.join(parts)}{end}}}"
    if isinstance(value, list | tuple) and value and isinstance(value[0], dict):
        return f"[{inner}{f',{inner}'.join(_indented(one, inner) for one in value)}{end}]"
    if isinstance(value, list | tuple) and value:
        return f"[{inner}{write(value, separators=(f',{inner}', ': '))[1:-1]}{end}]"
    return write(value)
