"""A system of section `similarity` as settings of `models/`: its values laid over the defaults.

A system names a kind of encoder and of loss, and what differs from their sections in `encoders` and
`losses` and from section `train`. The checks are those of titles
(`tasks/pipeline/train/network_params.py`).
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, model_validator

from models.training.run import TrainSettings
from tasks.io.section import FILE, Count, Params, ParamsError, Section, checked
from tasks.pipeline.train.network_params import NetworkParams, require_kind, training_settings
from tasks.pipeline.train.params import TrainParams

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]


class SystemParams(Params):
    """One of `similarity.systems`."""

    trained_on: str
    encoder: dict[str, Any]
    loss: dict[str, Any]
    train: dict[str, Any]

    @model_validator(mode="after")
    def _kinds_are_named(self) -> Self:
        for name, values in (("encoder", self.encoder), ("loss", self.loss)):
            if not isinstance(values.get("kind"), str):
                raise ValueError(f"{name} names no kind; write {name}: {{kind: ...}}")
        return self


class SimilarityParams(Section):
    """Section `similarity`: which systems are trained, with which seeds, and what each is."""

    NAME: ClassVar[str] = "similarity"
    seeds: Annotated[list[int], Field(min_length=1)]
    systems: Annotated[dict[Name, SystemParams], Field(min_length=1)]
    bootstrap_draws: Count

    @model_validator(mode="after")
    def _seeds_differ(self) -> Self:
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError(f"seeds {self.seeds}: the same one twice trains it twice")
        return self


def system_settings(
    network: NetworkParams, params: SimilarityParams, name: str, seed: int
) -> TrainSettings:
    """Return the settings of one training of the system `name`.

    Raises:
        ParamsError: there is no such system, or with every offending value and what is allowed.
    """
    if name not in params.systems:
        raise ParamsError(f"similarity.systems has no {name!r}; choose {', '.join(params.systems)}")
    system = params.systems[name]
    where = f"similarity.systems.{name}"
    of_system = NetworkParams(
        _train(network.train, system, f"{where}.train"),
        _laid_over(network.encoders, system.encoder, f"{where}.encoder"),
        _laid_over(network.losses, system.loss, f"{where}.loss"),
    )
    try:
        return training_settings(of_system, seed)
    except ParamsError as error:
        raise ParamsError(f"{where}, laid over {error}") from None


def _train(base: TrainParams, system: SystemParams, where: str) -> TrainParams:
    kinds = {"encoder": {"kind": system.encoder["kind"]}, "loss": {"kind": system.loss["kind"]}}
    misplaced = sorted({*kinds, "compatible_with"} & system.train.keys())
    if misplaced:
        raise ParamsError(f"{where}: {misplaced} do not belong here; take them out")
    own = {"compatible_with": "", "sparse_updates": False}  # their tables are small
    laid_over = base.model_dump() | own | system.train | kinds
    return checked(TrainParams, laid_over, FILE, (where,))


def _laid_over(
    sections: dict[str, dict[str, Any]], values: dict[str, Any], where: str
) -> dict[str, dict[str, Any]]:
    kind = values["kind"]
    require_kind(where, kind, sections)
    changes = {name: value for name, value in values.items() if name != "kind"}
    return {kind: sections[kind] | changes}
