"""Training into the space of an earlier model: Tables 1 and 2 of Bhat et al. 2019 on job titles.

A consumer has stored the alias embeddings of the earlier model, stage 1 of a workspace. Networks of
the same encoder learn from the pairs of stage 3: into that space, with the paper's five losses;
with trainable targets (negatives `max`, `mix`, `semihard`); and `free`, with the loss that the
workspace trains with. All have six trials and equal steps. Queries are looked up among the stored
embeddings, and once more (`own_index`) among aliases embedded anew: `free` shows what happens
without compatibility and, with its own index, what compatibility costs. The earlier model is asked
as well; it was trained otherwise, and on fewer kinds of pairs. Run it with
`python -m benchmarks.frozen_space`; started again it goes on behind the last network.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl

from benchmarks.frozen_space_measures import (
    METRICS,
    in_own_space,
    in_space,
    speeds,
    values,
)
from benchmarks.network_asked import Asked, common, whole
from benchmarks.network_figures import Seeds, figures, gains
from benchmarks.network_training import Bounds, Place, bounded, one_thread, tuned
from benchmarks.results_file import FOLDER, Row, replace_rows
from benchmarks.tuning import TRIAL_SEED, Trial
from models.kinds import loss_settings
from tasks.network_params import training_settings
from tasks.params import AllParams

EARLIER, FREE, OWN = "earlier", "free", "own_index"
DENSITY = "von_mises_fisher"
RATES = (0.003, 0.01)
FROZEN = ("most_informative", "random", "difference", "projection")
TRAINABLE = ("max", "mix", "semihard")
COMPARED: dict[str, dict[str, str]] = {
    DENSITY: {"kind": "von_mises_fisher"},
    **{name: {"kind": "frozen_margin", "negatives": name} for name in FROZEN},
    **{name: {"kind": "margin", "negatives": name} for name in TRAINABLE},
}
"""What of each system's loss differs from the values of its kind in `params.yaml`; less `free`."""
VARIED = {
    "von_mises_fisher": ("norm_penalty", (0.0, 0.02, 0.1)),
    "frozen_margin": ("margin", (0.25, 0.5, 1.0)),
    "margin": ("margin", (0.2, 0.4, 0.8)),
    "contrastive": ("margin", (0.2, 0.4, 0.6)),
    "info_nce": ("temperature", (0.05, 0.1, 0.2)),
}
"""What the trials of a kind differ in besides the learning rate."""


def systems(params: AllParams) -> dict[str, dict[str, str]]:
    """`COMPARED` and, as `free`, the loss of the workspace.

    Raises:
        ValueError: `VARIED` does not say what that loss has to be tuned for.
    """
    own = params.train.loss.kind
    if own not in VARIED:
        raise ValueError(f"train.loss.kind = {own}: choose one of {', '.join(VARIED)}")
    return {**COMPARED, FREE: {"kind": own}}


def trials(params: AllParams, steps: int) -> Iterator[Trial]:
    """Two learning rates and three values of what a loss has to be tuned for."""
    base = bounded(training_settings(params, TRIAL_SEED), steps, TRIAL_SEED)
    for system, changes in systems(params).items():
        kind = changes["kind"]
        name, tried = VARIED[kind]
        for rate in RATES:
            for value in tried:
                loss = loss_settings({**params.losses[kind], **changes, name: value})
                settings = replace(base, loss=loss, learning_rate=rate)
                yield Trial(system, f"learning_rate={rate:g},{name}={value:g}", settings)


def answers(folder: Path, earlier: Path, asked: Asked) -> pl.DataFrame:
    """What a network makes of all queries among the stored aliases, and among its own."""
    titles = asked.index.titles
    return beside(
        values(in_space(folder, earlier, titles), asked),
        values(in_own_space(folder, titles), asked),
    )


def beside(stored: pl.DataFrame, own: pl.DataFrame) -> pl.DataFrame:
    """One frame of both, the second as tests `own_index/TEST`."""
    return pl.concat([stored, own.with_columns(pl.format(f"{OWN}/{{}}", "test").alias("test"))])


def quality(networks: dict[str, Seeds], earlier: Seeds, asked: Asked) -> Iterator[Row]:
    """Figures of all systems, and differences: to `free` with its own index, to the earlier model.

    The margins into a frozen space are compared with von Mises-Fisher as well, as in the paper.

    Args:
        networks: of each system by seed, as `answers` gives them.
        earlier: `values` of the earlier model, whose own aliases are the stored ones.
        asked: the queries.
    """
    prefix = f"{OWN}/"
    own = pl.col("test").str.starts_with(prefix)
    renamed = pl.col("test").str.strip_prefix(prefix)
    # the same under both names: whatever index another system is asked with, it meets this one
    free = {
        seed: beside(*[frame.filter(own).with_columns(renamed)] * 2)
        for seed, frame in networks[FREE].items()
    }
    production = {seed: beside(frame, frame) for seed, frame in earlier.items()}
    for system, by_seed in {**networks, EARLIER: earlier}.items():
        found = [*figures(by_seed, METRICS, asked.params)]
        others = {seed: frame.filter(~own) for seed, frame in by_seed.items()}
        found += gains(others if system == FREE else by_seed, free, "gain_over_free", asked.params)
        if system != EARLIER:
            found += gains(by_seed, production, "gain_over_earlier", asked.params)
        if system in FROZEN:
            found += gains(by_seed, networks[DENSITY], f"gain_over_{DENSITY}", asked.params)
        yield from ({"system": system, **row} for row in found)


def earlier_model(asked: Asked, stage: str) -> Path:
    """The folder of the model of that stage, of the first seed.

    Raises:
        FileNotFoundError: it has not been trained.
    """
    folder = asked.data / f"train/{stage}/{asked.params.seeds[0]}/model"
    if not (folder / "weights.safetensors").is_file():
        raise FileNotFoundError(f"{folder} is missing: run `make reproduce`")
    return folder


def main(arguments: list[str] | None = None, folder: Path = FOLDER) -> None:
    """Measure and write `results/frozen_space.csv`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", default="ngrams", help="sample, or a profile that has run")
    parser.add_argument("--stage", default="3", help="whose pairs are trained on")
    parser.add_argument("--earlier", default="1", help="stage of the earlier model")
    parser.add_argument("--trial-steps", type=int, default=150)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=5, help="of all that speed is measured of")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--kept", type=Path, default=Path(".checkpoints/frozen_space"))
    given = parser.parse_args(arguments)
    asked = Asked.read(given.dataset)
    earlier = earlier_model(asked, given.earlier)
    place = Place(asked.pairs(given.stage), given.kept, earlier)
    bounds = Bounds(given.trial_steps, given.steps, given.seeds, given.processes)
    found = tuned(list(trials(asked.params, given.trial_steps)), place, bounds)
    networks: dict[str, Seeds] = {}
    with one_thread():
        own = values(in_own_space(earlier, asked.index.titles), asked)
        for number, (system, folders) in enumerate(found.networks.items(), 1):
            print(f"frozen_space: asking {system}, {number} of {len(found.networks)}", flush=True)
            networks[system] = {
                seed: answers(each, earlier, asked) for seed, each in folders.items()
            }
        rows = [*found.rows, *quality(networks, {asked.params.seeds[0]: own}, asked)]
        rows += speeds(found.settings, place, given.repeats)
    names = ("stage", "earlier", "trial_steps", "steps", "seeds", "repeats")
    options = {name: getattr(given, name) for name in names}
    replace_rows(whole(rows, common("frozen_space", asked, options)), folder)


if __name__ == "__main__":
    main()
