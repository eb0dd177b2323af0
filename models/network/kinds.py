"""Encoders and losses by kind: the name of a kind is that of its file, and stands nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, asdict, fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from models.network.encoder import Encoder
from models.network.loss import LossFunction, LossSettings
from models.text.featurizer import Featurizer

if TYPE_CHECKING:
    from torch import Tensor


def kinds(package: str) -> list[str]:
    """List the kinds in `encoders` or `losses`, sorted."""
    return sorted(path.stem for path in (Path(__file__).parents[1] / package).glob("[!_]*.py"))


def encoder_class(kind: str) -> type[Encoder]:
    """Return the encoder of this kind.

    Raises:
        ValueError: there is none; the message lists those that there are.
    """
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
    """Make the settings of an encoder from `kind` and its values, as `plain` gives them.

    Raises:
        ValueError: the kind is unknown, or a value is missing, unknown or refused by the class.
    """
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
    with torch.device("meta"):  # without weights of its own: drawing large ones takes seconds
        made = encoder(settings, featurizer.sizes)
    made.load_state_dict(weights, assign=True)
    return made


def fit_featurizer(titles: Sequence[str], settings: Any) -> Featurizer:  # noqa: ANN401
    """Fit the featurizer of an encoder with these settings on cleaned training titles."""
    return Featurizer.fit(titles, encoder_class(kind_of(settings)).units(settings))


def _settings(settings: type[Any], values: dict[str, Any]) -> Any:  # noqa: ANN401
    own = {name: value for name, value in values.items() if name != "kind"}
    known = {field.name for field in fields(settings)}
    # what has a default is missing in files of before it was there
    optional = {field.name for field in fields(settings) if field.default is not MISSING}
    wrong = sorted((known ^ own.keys()) - (optional - own.keys()))
    if wrong:
        raise ValueError(f"{values['kind']} has the values {sorted(known)}; check {wrong}")
    return settings(**{name: tuple(v) if isinstance(v, list) else v for name, v in own.items()})


def _module(package: str, kind: str) -> Any:  # noqa: ANN401
    if kind not in kinds(package):
        raise ValueError(f"{package} have no kind {kind!r}; choose {', '.join(kinds(package))}")
    return import_module(f"models.{package}.{kind}")
