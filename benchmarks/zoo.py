"""Every encoder with several losses on the job-title tests: one table of quality, size and speed.

A system `ENCODER+LOSS` has the values of `params.yaml` and is trained on the pairs of stage 3,
which hold no feedback and so depend on no network. All have the same trials, learning rates that
validation queries judge, and equal steps; the best trial is trained with every seed and put to the
tests, beside the lexical systems. What a network costs is `benchmarks/zoo_speed.py`'s. Run it with
`python -m benchmarks.zoo`; started again it goes on behind the last network.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from benchmarks.network_asked import VALID, Asked, common, whole
from benchmarks.network_figures import Seeds, figures, gains, pooled
from benchmarks.network_training import Bounds, Place, bounded, one_thread, tuned
from benchmarks.results_file import FOLDER, Row, replace_rows
from benchmarks.tuning import TRIAL_SEED, TRIALS, Trial
from benchmarks.zoo_speed import costs
from models.kinds import encoder_settings, kinds, loss_settings
from models.model_files import load_model
from tasks.frames import read_frame
from tasks.network_params import training_settings
from tasks.params import AllParams
from tasks.ranking import rank_queries
from tasks.schemas import SCORES
from tasks.systems import network

LOSSES = ("contrastive", "margin", "info_nce")
RATES = (0.002, 0.005, 0.01)
METRICS = {
    "success_at_1": "success_at_1",
    "success_at_10": "success_at_10",
    "reciprocal_rank": "mrr",
}
LEXICAL = ("ngram", "tfidf")


def trials(
    params: AllParams,
    encoders: Sequence[str],
    losses: Sequence[str],
    rates: Sequence[float],
    steps: int,
) -> Iterator[Trial]:
    """Every system at every learning rate; the rest is as section `train` and the kinds have it."""
    base = bounded(training_settings(params, TRIAL_SEED), steps, TRIAL_SEED)
    for encoder in encoders:
        values = encoder_settings({"kind": encoder, **params.encoders[encoder]})
        for loss in losses:
            own = loss_settings({"kind": loss, **params.losses[loss]})
            for rate in rates:
                settings = replace(base, encoder=values, loss=own, learning_rate=rate)
                yield Trial(f"{encoder}+{loss}", f"learning_rate={rate:g}", settings)


def answers(folder: Path, asked: Asked) -> pl.DataFrame:
    """Schema `SCORES` less `system`: what the network in a folder makes of all queries."""
    similarities = network(*load_model(folder), asked.index.titles)
    params = asked.params.evaluate
    return rank_queries("", similarities, asked.index, asked.queries, params)[0].drop("system")


def quality(values: dict[str, Seeds], asked: Asked) -> Iterator[Row]:
    """Tests of every network, which of them validation queries prefer, what the others lack of it.

    Args:
        values: of each network by seed, as `answers` gives them.
        asked: the queries, and `data/lexical/scores.parquet` of the same ones.
    """
    chosen = best(values)
    print(f"zoo: {chosen} is the best on validation queries", flush=True)
    for system, by_seed in values.items():
        found = [*figures(by_seed, METRICS, asked.params)]
        if system != chosen:
            found += gains(by_seed, values[chosen], "gain_over_best", asked.params)
        mark = {"test": VALID, "metric": "is_best", "value": float(system == chosen), "n": 1}
        yield from ({"system": system, **row} for row in [*found, mark])
    scores = read_frame(asked.data / "lexical/scores.parquet", SCORES)
    for system in LEXICAL:
        once = {0: scores.filter(system=system).drop("system")}
        found = [row for row in figures(once, METRICS, asked.params) if row["seed"] is None]
        found += gains(once, values[chosen], "gain_over_best", asked.params)
        yield from ({"system": system, **row} for row in found)


def best(values: dict[str, Seeds]) -> str:
    """The system with the highest success@1 of validation queries, over all seeds."""

    def valid(system: str) -> float:
        asked = pooled(values[system]).filter(test=VALID)["success_at_1"].to_numpy()
        return float(asked.mean()) if len(asked) else 0.0

    return max(values, key=valid)


def main(arguments: list[str] | None = None, folder: Path = FOLDER) -> None:
    """Measure and write `results/zoo.csv`."""
    parser = argparse.ArgumentParser(description=__doc__)
    every = kinds("encoders")
    parser.add_argument("--dataset", default="sample", help="sample, or a profile that has run")
    parser.add_argument("--encoders", choices=every, nargs="+", default=every)
    parser.add_argument("--losses", choices=kinds("losses"), nargs="+", default=list(LOSSES))
    parser.add_argument("--stage", default="3", help="whose pairs are trained on")
    parser.add_argument("--trials", type=float, nargs="+", default=list(RATES), help="rates")
    parser.add_argument("--trial-steps", type=int, default=150)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=5, help="of all that speed is measured of")
    parser.add_argument("--titles", type=int, default=2000, help="that are encoded in a repeat")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--kept", type=Path, default=Path(".checkpoints/zoo"))
    given = parser.parse_args(arguments)
    if len(given.trials) > TRIALS:
        parser.error(f"{len(given.trials)} trials; every system has at most {TRIALS}")
    asked = Asked.read(given.dataset)
    place = Place(asked.pairs(given.stage), given.kept)
    bounds = Bounds(given.trial_steps, given.steps, given.seeds, given.processes)
    tried = trials(asked.params, given.encoders, given.losses, given.trials, given.trial_steps)
    found = tuned(list(tried), place, bounds)
    values: dict[str, Seeds] = {}
    with one_thread():
        for number, (system, folders) in enumerate(found.networks.items(), 1):
            print(f"zoo: asking {system}, {number} of {len(found.networks)}", flush=True)
            values[system] = {seed: answers(each, asked) for seed, each in folders.items()}
        rows = [*found.rows, *quality(values, asked)]
        rows += costs(found.settings, place, asked.titles(given.titles), given.repeats)
    names = ("encoders", "losses", "stage", "trials", "trial_steps", "steps", "seeds")
    options = {name: getattr(given, name) for name in (*names, "repeats", "titles")}
    replace_rows(whole(rows, common("zoo", asked, options)), folder, only_systems=True)


if __name__ == "__main__":
    main()
