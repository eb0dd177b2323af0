"""Gains of each mix over the one before, and whether `verdicts` keeps up with `extra_words`.

In: values per query (schema `SCORES_BY_SEED`) of every mix and of the lexical baselines, and the
queries. Out: schemas `EFFECTS` and `KEPT_UP`. Two models are compared on the same queries, paired
by query, seed by seed (Neculoiu et al. 2016, Table 3; the paper gives no intervals); the last mix
with the baselines, too.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from models.metrics.crossed_intervals import crossed_interval
from models.metrics.intervals import MARGIN, Interval, bootstrap_interval, non_inferior
from models.reproducibility.seeding import child_seed
from tasks.evaluation.metric_tables import rounded
from tasks.io.frames import Schema
from tasks.io.mixes import CORRECTIONS, LAST, MIXES, VERDICTS, mix_before
from tasks.io.schemas import SCORES
from tasks.papers.table3.paper import OWN_TEST, errors_removed, paper_errors_removed

SCORES_BY_SEED: Schema = {**SCORES, "seed": pl.Int64}
"""`seed` of training; null for a system that is not trained."""
EFFECTS: Schema = {
    **dict.fromkeys(("system", "over", "test", "slice", "metric"), pl.String),
    **dict.fromkeys(("gain", "low", "high"), pl.Float64),
    "n": pl.Int64,
    **dict.fromkeys(("before", "errors_removed", "paper_errors_removed"), pl.Float64),
    "own": pl.Boolean,
    "seed": pl.Int64,
}
KEPT_UP: Schema = {
    **dict.fromkeys(("system", "over", "test", "slice"), pl.String),
    **dict.fromkeys(("difference", "low", "level"), pl.Float64),
    "passed": pl.Boolean,
    **dict.fromkeys(("n", "seed"), pl.Int64),
}
METRICS = {"success_at_1": "success_at_1", "reciprocal_rank": "mrr"}
UNTRAINED = ("tfidf", "ngram")
COMPARISONS = (
    *((mix, mix_before(mix)) for mix in MIXES[1:]),
    (CORRECTIONS, VERDICTS),
    *((CORRECTIONS, system) for system in UNTRAINED),
)
JUDGED = ((VERDICTS, LAST), (CORRECTIONS, LAST))
KEPT = (("typos", "all"), ("composition", "all"), ("extra_words", "source:label_agrees"))
"""Tests and slices on which `verdicts` must not be inferior to `extra_words` by `MARGIN`."""
ENOUGH_SEEDS = 3  # trainings that an effect of training is judged by, at least
Key = tuple[str, str, str, str]  # system, over, test, slice


def effects(scores: pl.DataFrame, queries: pl.DataFrame, draws: int, seed: int) -> pl.DataFrame:
    """Pair the gains of `COMPARISONS` with 95 % bootstrap intervals: schema `EFFECTS`.

    `slice` is `all`, and each source of a test whose queries are of several. `before` is the value
    of `over`; `errors_removed` is of success@1 (`tasks.papers.table3.paper`). Comparisons with a
    model that is not there are left out. Of three seeds or more there is a row without a seed: the
    mean gain, with an interval that holds what other seeds and other queries would change
    (`models/metrics/crossed_intervals.py`).

    `scores`: schema `SCORES_BY_SEED`; `queries`: schema `QUERIES`.

    Raises:
        ValueError: two models have not answered the same queries.
    """
    rows: list[tuple[object, ...]] = []
    for system, over in COMPARISONS:
        trained: dict[Key, list[pl.DataFrame]] = {}
        for (system_seed, test, split), group in _groups(scores, queries, system, over):
            key = (system, over, test, split)
            trained.setdefault(key, []).append(group.sort("query_id"))
            draw = child_seed(seed, "table3", test, split)
            for column in METRICS:
                gain = bootstrap_interval(_differences(group, column), draws, draw)
                rows.append(_row(key, column, [group], gain, system_seed))
        for key, groups in trained.items():
            if len(groups) < ENOUGH_SEEDS or len(groups[0]) < 2:
                continue
            for column in METRICS:
                by_seed = np.stack([_differences(group, column) for group in groups])
                rows.append(_row(key, column, groups, crossed_interval(by_seed), None))
    return rounded(rows, EFFECTS)


def kept_up(scores: pl.DataFrame, queries: pl.DataFrame, draws: int, seed: int) -> pl.DataFrame:
    """Test whether the mixes with feedback keep up with `LAST` on `KEPT`, Holm over these.

    A row passes when the lower end of its paired interval, at the level that Holm's step-down
    gives it, lies above −`MARGIN` (`models/metrics/intervals.py`). Arguments and errors as of
    `effects`; a test or slice without queries is left out.
    """
    rows = []
    for system, over in JUDGED:
        by_seed: dict[int, dict[str, np.ndarray]] = {}
        for (system_seed, test, split), group in _groups(scores, queries, system, over):
            if (test, split) in KEPT:
                differences = _differences(group, "success_at_1")
                by_seed.setdefault(system_seed, {})[f"{test}/{split}"] = differences
        for system_seed, by_test in by_seed.items():
            judged = non_inferior(by_test, MARGIN, draws, child_seed(seed, "table3", "kept_up"))
            for name, differences in by_test.items():
                tested, where = judged[name], name.split("/")
                result = (tested.value, tested.low, tested.level, tested.passed)
                rows.append((system, over, *where, *result, len(differences), system_seed))
    return rounded(rows, KEPT_UP)


def _groups(
    scores: pl.DataFrame, queries: pl.DataFrame, system: str, over: str
) -> Iterator[tuple[tuple[int, str, str], pl.DataFrame]]:
    """Yield both models' values (those of `over` as `COLUMN_over`) by seed, test and slice."""
    mine, theirs = scores.filter(system=system), scores.filter(system=over)
    if mine.is_empty() or theirs.is_empty():
        return
    keys, trainings = ["seed", "test", "query_id"], 1
    if over in UNTRAINED:
        keys, trainings = keys[1:], mine["seed"].n_unique()
    both = mine.join(theirs, on=keys, suffix="_over", maintain_order="left")
    if not len(both) == len(mine) == len(theirs) * trainings:
        raise ValueError(
            f"models {system} and {over} answered {len(mine)} and {len(theirs)} queries, "
            f"{len(both)} of them the same: evaluate both on the same tests and seeds"
        )
    sliced = both.join(_parts(queries), on=["test", "query_id"], maintain_order="left")
    for (system_seed, test, split), group in sliced.explode("slice").group_by(
        ["seed", "test", "slice"], maintain_order=True
    ):
        yield (int(str(system_seed)), str(test), str(split)), group


def _parts(queries: pl.DataFrame) -> pl.DataFrame:
    """Name slices: `test, query_id, slice` (a list): `all`, and the source if a test has many."""
    several = pl.col("source").n_unique().over("test") > 1
    sources = pl.concat_list(pl.lit("all"), pl.format("source:{}", "source"))
    chosen = pl.when(several).then(sources).otherwise(pl.concat_list(pl.lit("all")))
    return queries.select("test", "query_id", slice=chosen)


def _differences(group: pl.DataFrame, column: str) -> np.ndarray:
    return (group[column] - group[f"{column}_over"]).to_numpy()


def _row(
    key: Key, column: str, groups: list[pl.DataFrame], gain: Interval, system_seed: int | None
) -> tuple[object, ...]:
    """Make one row of `EFFECTS`; `groups`: the values behind `gain`, seed by seed."""
    system, over, test, split = key
    before = float(np.mean([group[f"{column}_over"].to_numpy().mean() for group in groups]))
    accuracy, whole = column == "success_at_1", split == "all"
    ours = errors_removed(before, gain.value) if accuracy else None
    paper = paper_errors_removed(system, over, test) if accuracy and whole else None
    own = OWN_TEST.get(system) == test and whole and over not in UNTRAINED
    shares = (gain.value, gain.low, gain.high, len(groups[0]), before, ours, paper)
    return (*key, METRICS[column], *shares, own, system_seed)
