"""Stage `train`: the network of a mix K without feedback, and the settings of any training.

In: `data/pairs/K/{strings,pairs}.parquet`, and the model in `data/reference_model/` if any. Out:
`data/train/K/SEED/model/` and `history.csv`, as of `python -m models.training.train_files`.
`train.encoder.kind` and `train.loss.kind` name sections of `encoders` and `losses`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from pydantic import ValidationError, create_model

from models.network.kinds import encoder_class, encoder_settings, loss_parts, loss_settings
from models.training.loop import TrainSettings
from models.training.train_files import settings_from, train_files
from tasks.io.command import network_options, run
from tasks.io.mixes import MIXES, reads_feedback
from tasks.io.section import FILE, Params, ParamsError, explain, load, read_values
from tasks.pipeline.train_params import TrainParams

Values = dict[str, Any]


class NetworkParams(NamedTuple):
    """Section `train`, and the values of each kind, by its name."""

    train: TrainParams
    encoders: dict[str, Values]
    losses: dict[str, Values]

    @classmethod
    def read(cls, path: Path = FILE) -> NetworkParams:
        """Read the three sections; ParamsError if a value is not allowed."""
        values = read_values(path)
        return cls.of(load(TrainParams, path), values["encoders"], values["losses"])

    @classmethod
    def of(
        cls, train: TrainParams, encoders: dict[str, Values], losses: dict[str, Values]
    ) -> NetworkParams:
        """Return the three sections; ParamsError if a kind has no section of values."""
        require_kind("train.encoder", train.encoder.kind, encoders)
        require_kind("train.loss", train.loss.kind, losses)
        return cls(train, encoders, losses)


def require_kind(name: str, kind: str, sections: Mapping[str, Values]) -> None:
    """Refuse a kind without values, with a ParamsError that names those that there are."""
    if kind not in sections:
        fault = f"params.yaml:\n  {name}.kind = {kind!r} has no section of values"
        raise ParamsError(f"{fault}; choose {', '.join(sorted(sections))}")


def training_settings(network: NetworkParams, seed: int) -> TrainSettings:
    """Return the settings of one training; the ParamsError names all that is not allowed."""
    train = network.train
    encoder, loss = train.encoder.kind, train.loss.kind
    values = {
        "seed": seed,
        **train.model_dump(exclude={"encoder", "loss", "compatible_with"}),
        "encoder": _checked("encoders", {"kind": encoder, **network.encoders[encoder]}),
        "loss": _checked("losses", {"kind": loss, **network.losses[loss]}),
    }
    try:
        settings = settings_from(values)
        if settings.sparse_updates:
            encoder_class(encoder).check_sparse(settings.encoder)
    except ValueError as error:
        raise ParamsError(f"params.yaml:\n  train.sparse_updates = true: {error}") from None
    if settings.loss.needs_targets != bool(train.compatible_with):
        fault = f"train.compatible_with = {train.compatible_with!r} with the loss {loss}"
        advice = "name a version (models:/NAME/VERSION) exactly if it trains into the space of one"
        raise ParamsError(f"params.yaml:\n  {fault}: {advice}")
    return settings


def check_kinds(network: NetworkParams) -> None:
    """Refuse impossible values in any section of `encoders` and `losses`, with a ParamsError."""
    for name, sections in (("encoders", network.encoders), ("losses", network.losses)):
        for kind, values in sections.items():
            _checked(name, {"kind": kind, **values})


def _checked(package: str, values: Values) -> Values:
    """Return the values of one kind; ParamsError with a line for each that is not allowed."""
    settings: type[Any]
    try:
        if package == "encoders":
            settings, make = encoder_class(values["kind"]).Settings, encoder_settings
        else:
            settings, make = loss_parts(values["kind"])[0], loss_settings
        hints = get_type_hints(settings)
        types: Any = {field.name: (hints[field.name], ...) for field in fields(settings)}
        model = create_model(settings.__name__, __base__=Params, **types)
        plain = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
        model.model_validate({k: v for k, v in plain.items() if k != "kind"})
        make(values)
    except ValidationError as error:
        lines = [explain(problem, (package, values["kind"])) for problem in error.errors()]
        raise ParamsError("params.yaml:\n" + "\n".join(lines)) from None
    except ValueError as error:
        raise ParamsError(f"params.yaml:\n  {package}.{values['kind']}: {error}") from None
    return values


def train_mix(
    mix: str,
    seed: int,
    changes: Mapping[str, Any],
    start: Path | None = None,
    trainings: int = 1,
) -> None:
    """Train the network of a mix; `changes` of the settings, and what follows as `train_files`."""
    network, pairs = NetworkParams.read(), Path(f"data/pairs/{mix}")
    train_files(
        pairs / "strings.parquet",
        pairs / "pairs.parquet",
        replace(training_settings(network, seed), **changes),
        Path(f"data/train/{mix}/{seed}"),
        Path(".checkpoints"),
        Path("data/reference_model") if network.train.compatible_with else None,
        start,
        trainings,
    )


def main() -> None:
    """Run the stage on its files."""
    options = network_options(__doc__, [mix for mix in MIXES if not reads_feedback(mix)])
    train_mix(options.mix, options.seed, {})


if __name__ == "__main__":
    run(main)
