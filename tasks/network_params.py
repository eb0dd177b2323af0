"""The network's part of `params.yaml` as settings of `models/`: section `train` and its two kinds.

`train.encoder.kind` and `train.loss.kind` name sections of `encoders` and `losses`; their values
are those of the settings class of that kind (`models/kinds.py`). `python -m tasks.network_params`
checks all of them, which the flows do before the first training of a workspace. This module imports
the networks, so the stages that have none do not import it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_type_hints

from pydantic import ValidationError, create_model

from models.kinds import encoder_class, encoder_settings, loss_parts, loss_settings
from models.run import TrainSettings
from models.train_files import settings_from
from tasks.command import run
from tasks.params import AllParams, ParamsError, explain, load_params
from tasks.sections import Params

Values = dict[str, Any]


def training_settings(params: AllParams, seed: int) -> TrainSettings:
    """Settings of one training.

    Raises:
        ParamsError: with every offending value and what is allowed, or what does not go together.
    """
    train = params.train
    encoder, loss = train.encoder.kind, train.loss.kind
    settings = settings_from(
        {
            "seed": seed,
            **train.model_dump(exclude={"encoder", "loss", "compatible_with"}),
            "encoder": _checked("encoders", {"kind": encoder, **params.encoders[encoder]}),
            "loss": _checked("losses", {"kind": loss, **params.losses[loss]}),
        }
    )
    if settings.loss.reads_dissimilar and not params.pairs.dissimilar_per_similar:
        raise ParamsError(
            f"params.yaml:\n  losses.{train.loss.kind} reads the dissimilar pairs of the file, but "
            "pairs.dissimilar_per_similar is 0; raise it, or choose negatives of the batch"
        )
    if settings.loss.needs_targets != bool(train.compatible_with):
        raise ParamsError(
            f"params.yaml:\n  train.compatible_with = {train.compatible_with!r} with the loss "
            f"{train.loss.kind}: name a version (models:/NAME/VERSION) exactly if it trains into "
            "the space of one"
        )
    return settings


def check_networks(params: AllParams) -> None:
    """Refuse what no training could work with, in any section of `encoders` and `losses`.

    Raises:
        ParamsError: as `training_settings`.
    """
    for name, sections in (("encoders", params.encoders), ("losses", params.losses)):
        for kind, values in sections.items():
            _checked(name, {"kind": kind, **values})
    training_settings(params, params.seeds[0])


def _checked(package: str, values: Values) -> Values:
    """The same values, if the settings class of their kind takes them."""
    try:
        if package == "encoders":
            settings, make = encoder_class(values["kind"]).Settings, encoder_settings
        else:
            settings, make = loss_parts(values["kind"])[0], loss_settings
        _check_types(settings, {k: v for k, v in values.items() if k != "kind"})
        make(values)
    except ValidationError as error:
        lines = [explain(problem, (package, values["kind"])) for problem in error.errors()]
        raise ParamsError("params.yaml:\n" + "\n".join(lines)) from None
    except ValueError as error:
        raise ParamsError(f"params.yaml:\n  {package}.{values['kind']}: {error}") from None
    return values


def _check_types(settings: type[Any], values: Mapping[str, Any]) -> None:
    hints = get_type_hints(settings)
    known: Any = {field.name: (hints[field.name], ...) for field in fields(settings)}
    model = create_model(settings.__name__, __base__=Params, **known)
    model.model_validate({name: _as_tuple(value) for name, value in values.items()})


def _as_tuple(value: object) -> object:
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value


def main() -> None:
    """Check the networks' parameters in the working directory."""
    check_networks(load_params())


if __name__ == "__main__":
    run(main)
