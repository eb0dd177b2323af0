"""Stage `similarity`: every trained system of the similarity track on every test set.

In: `data/scored_pairs/pairs.parquet`, `data/similarity_train/NAME/SEED/model` of all `systems` and
`seeds`. Out, in `data/similarity/`: `table.csv`, `differences.csv` (each system less the first that
is trained on the same data), `similarity.md` for people, `metrics.json`. Mean squared error is for
systems that were trained on scores, accuracy for sets whose score is 0 or 1 and that have
validation pairs. `sts_mean` is the mean over the STS sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from models.metrics.correlations import MEASURES
from models.network.kinds import load_model, loss_settings
from models.reproducibility import child_seed, write_bytes
from models.training.scored_run import pair_similarities
from tasks.evaluation.metric_tables import nested, rounded, write_table
from tasks.io.command import run
from tasks.io.files import write_json
from tasks.io.frames import Schema, read_frame
from tasks.io.section import load, load_run, read_values
from tasks.papers.similarity import pair_files
from tasks.papers.similarity import similarity_measures as measures
from tasks.papers.similarity.similarity_train import FOLDER as TRAINED
from tasks.papers.similarity.similarity_train import SimilarityParams
from tasks.pipeline.report import names

if TYPE_CHECKING:
    from jaxtyping import Float

FOLDER = Path("data/similarity")
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
DISPLAYED = {  # test -> its measures on the page; Pearson's r and the error of any other
    "sample_words": ("spearman",),
    "simlex": ("spearman",),
    "msrp": ("accuracy",),
    STS_MEAN: ("pearson",),
}
METRICS = {"pearson": "r", "spearman": "ρ", "mean_squared_error": "MSE, lower is better"}
NOTE = (
    "Pearson's r and Spearman's ρ of predicted and given scores; MSE of scores brought to 0–1, for "
    "systems that were trained on scores; accuracy with the threshold that is best on validation "
    "pairs. In brackets the 95 % interval, over pairs, of the mean over seeds; ± is the deviation "
    "over seeds. No system was trained on a pair of any test."
)
Results = dict[tuple[str, str], measures.Measured | None]  # by (test, metric), of one system


def similarity(
    pairs: pl.DataFrame,
    predictions: Mapping[str, Float[np.ndarray, "seed pair"]],
    trained_on: Mapping[str, str],
    draws: int,
    seed: int,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the tables of schemas `TABLE` and `DIFFERENCES`.

    `pairs`: `SCORED_PAIRS` with scores in [0, 1], as are `predictions` of each system for them;
    `valid` gives thresholds. `trained_on`: system -> its data; the first on each is the base.
    """
    by_system = {
        name: _results(pairs, scores, trained_on[name] != pair_files.PARAPHRASED, draws, seed)
        for name, scores in predictions.items()
    }
    tests = pairs.filter(split="test")
    sizes = dict(tests.group_by("dataset").len().iter_rows())
    sizes[STS_MEAN] = sum(size for test, size in sizes.items() if test.startswith(STS))
    rows = [
        (name, trained_on[name], test, metric, *_row(measure, sizes[test]))
        for name, results in by_system.items()
        for (test, metric), measure in results.items()
    ]
    differences = _differences(by_system, trained_on, sizes)
    return rounded(rows, TABLE), rounded(differences, DIFFERENCES)


def _results(
    pairs: pl.DataFrame,
    scores: Float[np.ndarray, "seed pair"],
    by_scores: bool,
    draws: int,
    seed: int,
) -> Results:
    """Measure one system, the tests in the order of `pairs`, their mean last."""
    dataset, split = pairs["dataset"].to_numpy(), pairs["split"].to_numpy()
    gold = pairs["score"].to_numpy()
    results: Results = {}
    for test in dict.fromkeys(dataset[split == "test"]):
        is_test = (dataset == test) & (split == "test")
        of_test = scores[:, is_test], gold[is_test]
        draw = child_seed(seed, "similarity", test)
        for measure in MEASURES:
            if by_scores or measure != "mean_squared_error":
                results[test, measure] = measures.measured(measure, *of_test, draws, draw)
        valid = (dataset == test) & (split == "valid")
        if pair_files.score_range(test) == (0.0, 1.0) and valid.any():
            thresholds = [
                measures.best_threshold(by_seed[valid], gold[valid]) for by_seed in scores
            ]
            results[test, "accuracy"] = measures.accuracy(*of_test, thresholds, draws, draw)
    for measure in MEASURES:
        keys = [(test, m) for test, m in results if test.startswith(STS) and m == measure]
        sets = [made for key in keys if (made := results[key]) is not None]
        if keys:
            results[STS_MEAN, measure] = measures.averaged(sets) if len(sets) == len(keys) else None
    return results


def _row(measure: measures.Measured | None, size: int) -> tuple[float | None, ...]:
    if measure is None:
        return (None, None, None, size, None, None, None, None)
    seeds, several = measure.by_seed, len(measure.by_seed) > 1
    spread = (seeds.min(), seeds.max(), seeds.std(ddof=1)) if several else (None, None, None)
    return (measure.value, *measure.ends, size, len(seeds), *spread)


def _differences(
    by_system: Mapping[str, Results], trained_on: Mapping[str, str], sizes: Mapping[str, int]
) -> Iterator[tuple[str | float | None, ...]]:
    """Yield each system less the first of its group, where both have a value."""
    first: dict[str, str] = {}
    for name, results in by_system.items():
        over = first.setdefault(trained_on[name], name)
        if over == name:
            continue
        for (test, metric), mine in results.items():
            base = by_system[over][test, metric]
            if mine is not None and base is not None:
                interval = measures.ends(mine.resampled - base.resampled)
                difference, seeds = mine.value - base.value, len(mine.by_seed)
                yield name, over, test, metric, difference, *interval, sizes[test], seeds


def predictions_of(
    params: SimilarityParams, losses: Mapping[str, dict[str, Any]], pairs: pl.DataFrame
) -> dict[str, Float[np.ndarray, "seed pair"]]:
    """Return every system's similarity of `pairs` (`left, right`), with each seed; in [0, 1].

    A loss says by what two embeddings are compared. FileNotFoundError if a system is not trained.
    """
    left, right = pairs["left"].to_list(), pairs["right"].to_list()
    predictions = {}
    for name, system in params.systems.items():
        compared_by = loss_settings({**losses[system.loss["kind"]], **system.loss}).similarity
        by_seed = []
        for seed in params.seeds:
            featurizer, encoder = load_model(TRAINED / name / str(seed) / "model")
            by_seed.append(pair_similarities(encoder, featurizer, left, right, compared_by))
        scores = np.stack(by_seed)
        predictions[name] = (1 + scores) / 2 if compared_by == "cosine" else scores
    return predictions


def as_markdown(table: pl.DataFrame, differences: pl.DataFrame) -> str:
    """Write the page, which a terminal shows as well; parts without a row are left out."""
    title = "# Similarity: systems on pairs that people scored"
    single = pl.col("test").str.contains("/", literal=True)
    first = _by_measure(table.filter(~single), "trained_on", "value", names.share)
    gains = _by_measure(differences.filter(~single), "over", "difference", names.signed)
    others = {
        "## STS, set by set: Pearson's r": _sets(table.filter(single)),
        "## Gains over the first system of the same training data, paired": gains,
    }
    return names.markdown_page(title, first, NOTE, others)


def _by_measure(
    rows: pl.DataFrame, beside: str, value: str, written: Callable[[float], str]
) -> names.Table:
    """Lay systems down, each with the column `beside`; tests and their measures across."""
    sizes = dict(rows.select("test", "n").iter_rows())
    present = set(rows.select("test", "metric").iter_rows())
    columns = {
        (test, metric): f"{test} {METRICS.get(metric, metric)} (n {names.count(size)})"
        for test, size in sizes.items()
        for metric in DISPLAYED.get(test, ("pearson", "mean_squared_error"))
        if (test, metric) in present
    }
    cells = {}
    for row in rows.iter_rows(named=True):
        name, column = (row["system"], row[beside]), (row["test"], row["metric"])
        cells[name, column] = names.with_interval(row[value], row, written)
    return ["system", beside.replace("_", " "), *columns.values()], names.crossed(cells, columns)


def _sets(rows: pl.DataFrame) -> names.Table:
    values = rows.filter(metric="pearson")
    systems = list(dict.fromkeys(values["system"]))
    cells = {
        ((test, names.count(size)), system): "" if value is None else names.share(value)
        for test, size, system, value in values.select("test", "n", "system", "value").iter_rows()
    }
    return ["set", "n", *systems], names.crossed(cells, systems)


def main() -> None:
    """Run the stage on its files."""
    params = load(SimilarityParams)
    used = pl.col("split").is_in(["test", "valid"])
    pairs = pair_files.scaled(read_frame(pair_files.PAIRS, pair_files.SCORED_PAIRS).filter(used))
    trained_on = {name: system.trained_on for name, system in params.systems.items()}
    predictions = predictions_of(params, read_values()["losses"], pairs)
    draws, seed = params.bootstrap_draws, load_run().seed
    table, differences = similarity(pairs, predictions, trained_on, draws, seed)
    write_table(table, FOLDER / "table.csv", TABLE)
    write_table(differences, FOLDER / "differences.csv", DIFFERENCES)
    page = as_markdown(table, differences)
    write_bytes(page.encode(), FOLDER / "similarity.md")
    write_json(nested(table.with_columns(slice=pl.lit("all"))), FOLDER / "metrics.json")
    print(page)


if __name__ == "__main__":
    run(main)
