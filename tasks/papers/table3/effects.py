"""Gains of each mix over the one before, and whether `verdicts` keeps up with `extra_words`.

Two models are compared on the same queries, paired by query, seed by seed (Neculoiu et al. 2016,
Table 3); the last mix with the baselines, too. The paper's figures stand here: accuracy (success@1)
on its proprietary taxonomy of 19,927 titles, with tests of 19,928, 7,909, 1,949 and 1,000 queries.
Absolute figures do not compare with ours; effects do.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from models.metrics import intervals
from models.reproducibility import child_seed
from tasks.evaluation.metric_tables import rounded
from tasks.io.frames import Schema
from tasks.io.mixes import CORRECTIONS, LAST, MIXES, VERDICTS, mix_before
from tasks.io.schemas import SCORES

SCORES_BY_SEED: Schema = {**SCORES, "seed": pl.Int64}  # null: not trained
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
KEPT = (("typos", "all"), ("composition", "all"), ("extra_words", "source:label_agrees"))
"""Tests and slices on which `verdicts` must not be inferior to `extra_words` by `MARGIN`."""
ENOUGH_SEEDS = 3  # trainings that an effect of training is judged by, at least
PAPER_TESTS = ("typos", "composition", "extra_words", "annotations")
PAPER_ACCURACY = {  # by system and test
    (system, test): value
    for system, values in {
        "ngram": (0.99, 0.61, 1.00, 0.83),  # Extra Words was mined with it: 1.00 by construction
        "base": (0.95, 0.55, 0.40, 0.69),
        "typos": (0.99, 0.54, 0.36, 0.77),
        "synonyms": (1.00, 0.83, 0.29, 0.76),
        "extra_words": (1.00, 0.84, 0.76, 0.87),
        "verdicts": (1.00, 0.79, 0.82, 0.84),
    }.items()
    for test, value in zip(PAPER_TESTS, values, strict=True)
}
OWN_TEST = {"typos": "typos", "synonyms": "composition", "extra_words": "extra_words"}
"""The test that probes for what a mix adds (section 4.2); all tests are those of `verdicts`."""


def effects(scores: pl.DataFrame, queries: pl.DataFrame, draws: int, seed: int) -> pl.DataFrame:
    """Return the gains of `COMPARISONS` with 95 % bootstrap intervals: schema `EFFECTS`.

    `slice` is `all`, and each source of a test with several. A model that is missing is left out.
    From three seeds on there is a row without a seed: the mean gain, with an interval over seeds
    and queries. `scores`: schema `SCORES_BY_SEED`. ValueError if two models answered other queries.
    """
    rows: list[tuple[object, ...]] = []
    for system, over in COMPARISONS:
        trained: dict[tuple[str, str], list[pl.DataFrame]] = {}
        for (system_seed, test, part), group in _groups(scores, queries, system, over):
            trained.setdefault((test, part), []).append(group.sort("query_id"))
            draw = child_seed(seed, "table3", test, part)
            for column in METRICS:
                gain = intervals.bootstrap_interval(_differences(group, column), draws, draw)
                key = (system, over, test, part)
                rows.append(_row(key, column, [group], gain, system_seed))
        for part_of_test, groups in trained.items():
            if len(groups) < ENOUGH_SEEDS or len(groups[0]) < 2:
                continue
            for column in METRICS:
                by_seed = np.stack([_differences(group, column) for group in groups])
                gain = intervals.crossed_interval(by_seed)
                rows.append(_row((system, over, *part_of_test), column, groups, gain, None))
    return rounded(rows, EFFECTS)


def kept_up(scores: pl.DataFrame, queries: pl.DataFrame, draws: int, seed: int) -> pl.DataFrame:
    """Test whether the mixes with feedback keep up with `LAST` on `KEPT`, Holm over these.

    A row passes if the lower end of its paired interval, at Holm's level, lies above −`MARGIN`.
    """
    rows, draw = [], child_seed(seed, "table3", "kept_up")
    for system in (VERDICTS, CORRECTIONS):
        by_seed: dict[int, dict[str, np.ndarray]] = {}
        for (system_seed, test, part), group in _groups(scores, queries, system, LAST):
            if (test, part) in KEPT:
                differences = _differences(group, "success_at_1")
                by_seed.setdefault(system_seed, {})[f"{test}/{part}"] = differences
        for system_seed, by_test in by_seed.items():
            tested = intervals.non_inferior(by_test, intervals.MARGIN, draws, draw)
            for name, result in tested.items():
                figures = (result.value, result.low, result.level, result.passed)
                names = (system, LAST, *name.split("/"))
                rows.append((*names, *figures, len(by_test[name]), system_seed))
    return rounded(rows, KEPT_UP)


def errors_removed(before: float, gain: float) -> float | None:
    """Return the share of errors that a gain removes, gain / (1 − before); None without any."""
    return None if before >= 1 else gain / (1 - before)


def paper_errors_removed(system: str, over: str, test: str) -> float | None:
    """Return the same from the paper's figures; None where it has none."""
    before, after = PAPER_ACCURACY.get((over, test)), PAPER_ACCURACY.get((system, test))
    return None if before is None or after is None else errors_removed(before, after - before)


def _groups(
    scores: pl.DataFrame, queries: pl.DataFrame, system: str, over: str
) -> Iterator[tuple[tuple[int, str, str], pl.DataFrame]]:
    """Yield both models' values (`COLUMN_over`: of `over`) by seed, test and slice."""
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
    several = pl.col("source").n_unique().over("test") > 1
    sources = pl.when(several).then(pl.format("source:{}", "source"))
    slices = pl.concat_list(pl.lit("all"), sources).list.drop_nulls()
    sliced = queries.select("test", "query_id", slice=slices)
    answered = both.join(sliced, on=["test", "query_id"], maintain_order="left").explode("slice")
    for (system_seed, test, part), group in answered.group_by(
        ["seed", "test", "slice"], maintain_order=True
    ):
        yield (int(str(system_seed)), str(test), str(part)), group


def _differences(group: pl.DataFrame, column: str) -> np.ndarray:
    return (group[column] - group[f"{column}_over"]).to_numpy()


def _row(
    key: tuple[str, str, str, str],
    column: str,
    groups: list[pl.DataFrame],
    gain: intervals.Interval,
    system_seed: int | None,
) -> tuple[object, ...]:
    """Make one row of `EFFECTS`; `groups`: the values behind `gain`, seed by seed."""
    system, over, test, part = key
    before = float(np.mean([group[f"{column}_over"].to_numpy().mean() for group in groups]))
    accuracy, whole = column == "success_at_1", part == "all"
    ours = errors_removed(before, gain.value) if accuracy else None
    paper = paper_errors_removed(system, over, test) if accuracy and whole else None
    own = OWN_TEST.get(system) == test and whole and over not in UNTRAINED
    shares = (gain.value, gain.low, gain.high, len(groups[0]), before, ours, paper)
    return (*key, METRICS[column], *shares, own, system_seed)
