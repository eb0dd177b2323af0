"""Stage `similarity_train`: one system of the section `similarity`, trained with each seed.

In: `data/scored_pairs/{pairs,paraphrases}.parquet`. Out, in `data/similarity_train/NAME/SEED/`:
`model/` and `history.csv` as the stage `train` writes them, and counts. A system names a kind of
encoder and of loss, and what differs from their sections and from the section `train`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import polars as pl
import torch
from pydantic import Field, model_validator

from models.network.kinds import fit_featurizer, save_model
from models.text.titles import normalize_title
from models.training.checkpoints import Checkpoints, run_key
from models.training.loop import TrainSettings, describe, train
from models.training.scored_run import ScoredPairs, ScoredRun
from tasks.evaluation.metric_tables import write_table
from tasks.io.command import run
from tasks.io.files import write_json
from tasks.io.frames import read_frame
from tasks.io.schemas import HISTORY
from tasks.io.section import FILE, Count, Params, ParamsError, Section, checked, load
from tasks.papers.similarity import pair_files
from tasks.pipeline.train import NetworkParams, require_kind, training_settings
from tasks.pipeline.train_params import TrainParams

FOLDER = Path("data/similarity_train")
CODE = Path("data/similarity_code")
USED = ("train", "valid")
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


class TrainingPairs(NamedTuple):
    """The pairs of both splits; scores are in [0, 1], or there are none."""

    train: ScoredPairs
    valid: ScoredPairs
    left_out: dict[str, int]  # split -> rows that are a test pair somewhere


def similarity_train(
    pairs: TrainingPairs, settings: TrainSettings, checkpoints: Checkpoints, out: Path
) -> None:
    """Train on the GPU where there is one, else on the CPU, and write the result to `out`."""
    featurizer = fit_featurizer(pairs.train.titles, settings.encoder)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    print(
        f"{len(pairs.train)} pairs of {len(pairs.train.titles)} strings, {len(pairs.valid)} "
        f"validation pairs, {sum(pairs.left_out.values())} left out, on {device.type}"
    )
    scored_run = ScoredRun(pairs.train, pairs.valid, featurizer, settings, device)
    trained = train(scored_run, checkpoints)
    save_model(out / "model", featurizer, settings.encoder, trained.weights, trained.initial)
    history = pl.DataFrame(trained.history, schema=HISTORY, orient="row")
    write_table(history, out / "history.csv", HISTORY)
    counts = {
        "pairs": {"train": len(pairs.train), "valid": len(pairs.valid)},
        "left_out": pairs.left_out,
        "strings": len(pairs.train.titles),
        "steps": trained.history[-1].step,
        "valid_score": max(look.valid_score for look in trained.history),
    }
    write_json(counts, out / "metrics.json")
    checkpoints.remove()


def system_settings(
    network: NetworkParams, params: SimilarityParams, name: str, seed: int
) -> TrainSettings:
    """Return the settings of one training of the system `name`; ParamsError if not allowed."""
    if name not in params.systems:
        raise ParamsError(f"similarity.systems has no {name!r}; choose {', '.join(params.systems)}")
    system, where = params.systems[name], f"similarity.systems.{name}"
    kinds = {"encoder": {"kind": system.encoder["kind"]}, "loss": {"kind": system.loss["kind"]}}
    if misplaced := sorted({*kinds, "compatible_with"} & system.train.keys()):
        raise ParamsError(f"{where}.train: {misplaced} do not belong here; take them out")
    own = {"compatible_with": "", "sparse_updates": False}  # their tables are small
    values = network.train.model_dump() | own | system.train | kinds
    of_system = NetworkParams(
        checked(TrainParams, values, FILE, (f"{where}.train",)),
        _laid_over(network.encoders, system.encoder, f"{where}.encoder"),
        _laid_over(network.losses, system.loss, f"{where}.loss"),
    )
    try:
        return training_settings(of_system, seed)
    except ParamsError as error:
        raise ParamsError(f"{where}, laid over {error}") from None


def _laid_over(
    sections: dict[str, dict[str, Any]], values: dict[str, Any], where: str
) -> dict[str, dict[str, Any]]:
    kind = values["kind"]
    require_kind(where, kind, sections)
    return {kind: sections[kind] | {name: v for name, v in values.items() if name != "kind"}}


def training_pairs(
    pairs: pl.DataFrame, paraphrases: pl.DataFrame, trained_on: str
) -> TrainingPairs:
    """Select the pairs of one data set, or the paraphrases, less those of any test.

    A pair is left out if its two normalized strings, in either order, are a test pair of any data
    set, as 73 of SICK's own are. ValueError if `trained_on` is no data set to train on.
    """
    if trained_on == pair_files.PARAPHRASED:
        rows = paraphrases.select("split", left="head", right="paraphrase")
    else:
        trainable = pairs.filter(split="train")["dataset"].unique(maintain_order=True)
        if trained_on not in trainable:
            fault = f"similarity.systems: trained_on {trained_on!r} has no part train"
            choice = ", ".join([*trainable, pair_files.PARAPHRASED])
            raise ValueError(f"{fault}; choose {choice}")
        used = pairs.filter(pl.col("split").is_in(USED), dataset=trained_on)
        rows = pair_files.scaled(used).select("split", "left", "right", "score")
    tests = _normalized(pairs.filter(split="test")).select("low", "high")
    kept = _normalized(rows).join(tests, on=["low", "high"], how="anti", maintain_order="left")
    left_out = {s: len(rows.filter(split=s)) - len(kept.filter(split=s)) for s in USED}
    return TrainingPairs(_part(kept, "train"), _part(kept, "valid"), left_out)


def _normalized(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the normalized strings of each pair as `low` and `high`, the lower one first."""
    titles = pl.concat([rows["left"], rows["right"]]).unique()
    names = {title: normalize_title(title) for title in titles}
    both = pl.col("left", "right").replace_strict(names, return_dtype=pl.String)
    return rows.with_columns(low=pl.min_horizontal(both), high=pl.max_horizontal(both))


def _part(rows: pl.DataFrame, split: str) -> ScoredPairs:
    pairs = rows.filter(split=split)
    scores = pairs["score"].to_list() if "score" in pairs.columns else None
    return ScoredPairs.of(pairs["left"].to_list(), pairs["right"].to_list(), scores)


def main() -> None:
    """Run the stage on its files, seed by seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True)
    name = parser.parse_args().name
    params, network = load(SimilarityParams), NetworkParams.read()
    by_seed = {seed: system_settings(network, params, name, seed) for seed in params.seeds}
    trained_on = params.systems[name].trained_on
    paraphrases = read_frame(pair_files.PARAPHRASES, pair_files.PARAPHRASE_PARTS)
    pairs = training_pairs(
        read_frame(pair_files.PAIRS, pair_files.SCORED_PAIRS), paraphrases, trained_on
    )
    for seed, settings in by_seed.items():
        described = {**describe(settings), "trained_on": trained_on}
        key = run_key(described, [pair_files.PAIRS, pair_files.PARAPHRASES, CODE / f"{name}.json"])
        checkpoints = Checkpoints(Path(".checkpoints"), key)
        similarity_train(pairs, settings, checkpoints, FOLDER / name / str(seed))


if __name__ == "__main__":
    run(main)
