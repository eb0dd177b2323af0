"""Stage `similarity`: every trained system of the similarity track on every test set.

In: `data/scored_pairs/pairs.parquet`, `data/similarity_train/NAME/SEED/model` of all `systems`
and `seeds`. Out, in `data/similarity/`: `table.csv`, `differences.csv` (each system less the first
that is trained on the same data), `similarity.md` for people, `metrics.json`. Pearson and Spearman
for every set; the mean squared error, of scores in [0, 1], for systems that were trained on scores;
accuracy for sets whose score is 0 or 1 and that have validation pairs. `sts_mean` is the mean over
the STS sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from models.network.kinds import loss_settings
from models.network.model_files import load_model
from models.reproducibility.atomic_write import write_bytes
from models.reproducibility.seeding import child_seed
from models.training.scored_run import pair_similarities
from tasks.evaluation.metric_tables import nested, rounded, write_table
from tasks.io.command import run
from tasks.io.frames import Schema, read_frame, write_json
from tasks.io.section import load, load_run, read_values
from tasks.papers.similarity.pair_files import PAIRS, PARAPHRASED, scaled
from tasks.papers.similarity.readers.scored_pairs import SCORED_PAIRS, score_range
from tasks.papers.similarity.similarity_measures import (
    VALUE,
    Measured,
    accuracy,
    averaged,
    best_threshold,
    ends,
    measured,
)
from tasks.papers.similarity.similarity_page import as_markdown
from tasks.papers.similarity.similarity_params import SimilarityParams

if TYPE_CHECKING:
    from jaxtyping import Float

FOLDER = Path("data/similarity")
TRAINED = Path("data/similarity_train")
STS, STS_MEAN = "sts", "sts_mean"
TABLE: Schema = {
    **dict.fromkeys(("system", "trained_on", "test", "metric"), pl.String),
    **dict.fromkeys(("value", "low", "high"), pl.Float64),
    **dict.fromkeys(("n", "seeds"), pl.Int64),
    **dict.fromkeys(("smallest", "largest", "deviation"), pl.Float64),
}
DIFFERENCES: Schema = {
    **dict.fromkeys(("system", "over", "test", "metric"), pl.String),
    **dict.fromkeys(("difference", "low", "high"), pl.Float64),
    **dict.fromkeys(("n", "seeds"), pl.Int64),
}
Results = dict[tuple[str, str], Measured | None]
"""(test, metric) -> the measure of one system; None where it is not defined."""


class Similarity(NamedTuple):
    """Frames of schemas `TABLE` and `DIFFERENCES`."""

    table: pl.DataFrame
    differences: pl.DataFrame


def similarity(
    pairs: pl.DataFrame,
    predictions: Mapping[str, Float[np.ndarray, "seed pair"]],
    trained_on: Mapping[str, str],
    draws: int,
    seed: int,
) -> Similarity:
    """Return both tables.

    `pairs`: schema `SCORED_PAIRS` with scores in [0, 1]: the split `test` is measured, the split
    `valid` gives thresholds; `predictions`: of each system, in [0, 1], for each row of `pairs`; its
    first is the base of its group; `trained_on`: system -> its data, the group; `PARAPHRASED`: no
    scores.
    """
    by_system = {
        name: _results(pairs, scores, trained_on[name] != PARAPHRASED, draws, seed)
        for name, scores in predictions.items()
    }
    tests = pairs.filter(split="test")
    sizes = dict(tests.group_by("dataset").len().iter_rows())
    sizes[STS_MEAN] = sum(size for test, size in sizes.items() if test.startswith(STS))
    rows = [
        (name, trained_on[name], test, metric, *_row(one, sizes[test]))
        for name, results in by_system.items()
        for (test, metric), one in results.items()
    ]
    differences = _differences(by_system, trained_on, sizes)
    return Similarity(rounded(rows, TABLE), rounded(differences, DIFFERENCES))


def _results(
    pairs: pl.DataFrame,
    scores: Float[np.ndarray, "seed pair"],
    by_scores: bool,
    draws: int,
    seed: int,
) -> Results:
    """Everything that one system reaches, the tests in the order of `pairs`, their mean last."""
    dataset, split = pairs["dataset"].to_numpy(), pairs["split"].to_numpy()
    gold = pairs["score"].to_numpy()
    results: Results = {}
    for test in dict.fromkeys(dataset[split == "test"]):
        is_test = (dataset == test) & (split == "test")
        of_test = scores[:, is_test], gold[is_test]
        draw = child_seed(seed, "similarity", test)
        for measure in VALUE:
            if by_scores or measure != "mean_squared_error":
                results[test, measure] = measured(measure, *of_test, draws, draw)
        valid = (dataset == test) & (split == "valid")
        if score_range(test) == (0.0, 1.0) and valid.any():
            thresholds = [best_threshold(by_seed[valid], gold[valid]) for by_seed in scores]
            results[test, "accuracy"] = accuracy(*of_test, thresholds, draws, draw)
    for measure in VALUE:
        parts = [one for (test, m), one in results.items() if test.startswith(STS) and m == measure]
        whole = [one for one in parts if one is not None]
        if parts:
            results[STS_MEAN, measure] = averaged(whole) if len(whole) == len(parts) else None
    return results


def _row(one: Measured | None, size: int) -> tuple[float | None, ...]:
    if one is None:
        return (None, None, None, size, None, None, None, None)
    seeds, several = one.by_seed, len(one.by_seed) > 1
    spread = (seeds.min(), seeds.max(), seeds.std(ddof=1)) if several else (None, None, None)
    return (one.value, *one.ends, size, len(seeds), *spread)


def _differences(
    by_system: Mapping[str, Results], trained_on: Mapping[str, str], sizes: Mapping[str, int]
) -> Iterator[tuple[str | float | None, ...]]:
    """Yield each system less the first of its group, where both have a value."""
    first: dict[str, str] = {}
    for name, results in by_system.items():
        over = first.setdefault(trained_on[name], name)
        if over == name:
            continue
        for (test, metric), one in results.items():
            other = by_system[over][test, metric]
            if one is not None and other is not None:
                interval = ends(one.resampled - other.resampled)
                difference = one.value - other.value
                seeds = len(one.by_seed)
                yield name, over, test, metric, difference, *interval, sizes[test], seeds


def predictions_of(
    params: SimilarityParams, losses: Mapping[str, dict[str, Any]], pairs: pl.DataFrame
) -> dict[str, Float[np.ndarray, "seed pair"]]:
    """Return every system's similarity of the pairs, with each seed; in [0, 1].

    `params`: section `similarity`; `losses`: section `losses`; a loss says by what two embeddings
    are compared; `pairs`: `left, right: String`.

    Raises:
        FileNotFoundError: a system has not been trained.
    """
    left, right = pairs["left"].to_list(), pairs["right"].to_list()
    predictions = {}
    for name, system in params.systems.items():
        values = {**losses[system.loss["kind"]], **system.loss}
        compared_by = loss_settings(values).similarity
        by_seed = []
        for seed in params.seeds:
            featurizer, encoder = load_model(TRAINED / name / str(seed) / "model")
            by_seed.append(pair_similarities(encoder, featurizer, left, right, compared_by))
        scores = np.stack(by_seed)
        predictions[name] = (1 + scores) / 2 if compared_by == "cosine" else scores
    return predictions


def main() -> None:
    """Run the stage on its files."""
    params = load(SimilarityParams)
    used = pl.col("split").is_in(["test", "valid"])
    pairs = scaled(read_frame(PAIRS, SCORED_PAIRS).filter(used))
    trained_on = {name: system.trained_on for name, system in params.systems.items()}
    predictions = predictions_of(params, read_values()["losses"], pairs)
    results = similarity(pairs, predictions, trained_on, params.bootstrap_draws, load_run().seed)
    write_table(results.table, FOLDER / "table.csv", TABLE)
    write_table(results.differences, FOLDER / "differences.csv", DIFFERENCES)
    page = as_markdown(results.table, results.differences)
    write_bytes(page.encode(), FOLDER / "similarity.md")
    metrics = nested(results.table.with_columns(slice=pl.lit("all")))
    write_json(metrics, FOLDER / "metrics.json")
    print(page)


if __name__ == "__main__":
    run(main)
