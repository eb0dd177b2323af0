"""A system of section `similarity` as settings of `models/`: its values laid over the defaults.

A system names a kind of encoder and of loss, and what differs from their sections in `encoders` and
`losses` and from section `train`. What is checked for titles (`tasks/network_params.py`) is checked
here too.
"""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from models.run import TrainSettings
from tasks.network_params import training_settings
from tasks.params import AllParams, ParamsError, explain
from tasks.sections import TrainParams


def system_settings(params: AllParams, name: str, seed: int) -> TrainSettings:
    """Settings of one training of the system `name`.

    Raises:
        ParamsError: there is no such system, or with every offending value and what is allowed.
    """
    systems = params.similarity.systems
    if name not in systems:
        raise ParamsError(f"similarity.systems has no {name!r}; choose {', '.join(systems)}")
    system = systems[name]
    where = ("similarity", "systems", name)
    update = {
        "train": _train(params.train, system.train, system.encoder, system.loss, where),
        "encoders": _laid_over(params.encoders, system.encoder),
        "losses": _laid_over(params.losses, system.loss),
    }
    try:
        return training_settings(params.model_copy(update=update), seed)
    except ParamsError as error:
        raise ParamsError(f"{'.'.join(where)}, laid over {error}") from None


def _train(
    base: TrainParams,
    values: dict[str, Any],
    encoder: dict[str, Any],
    loss: dict[str, Any],
    where: tuple[str, ...],
) -> TrainParams:
    kinds = {"encoder": {"kind": encoder["kind"]}, "loss": {"kind": loss["kind"]}}
    own = sorted({*kinds, "compatible_with"} & values.keys())
    if own:
        raise ParamsError(f"{'.'.join(where)}.train: {own} do not belong here; take them out")
    try:
        given = base.model_dump() | values | kinds | {"compatible_with": ""}
        return TrainParams.model_validate(given)
    except ValidationError as error:
        lines = [explain(problem, (*where, "train")) for problem in error.errors()]
        raise ParamsError("params.yaml:\n" + "\n".join(lines)) from None


def _laid_over(
    sections: dict[str, dict[str, Any]], values: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    """The one section of the system's kind, with its values."""
    kind = values["kind"]
    given = {name: value for name, value in values.items() if name != "kind"}
    return {kind: sections[kind] | given}
