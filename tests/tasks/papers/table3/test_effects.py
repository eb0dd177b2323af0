"""Gains, shares of errors and verdicts on four queries worked by hand, and on many."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from frames_of import queries_of

from models.metrics.crossed_intervals import crossed_interval
from models.metrics.intervals import paired_interval
from models.reproducibility.seeding import child_seed
from tasks.io.frames import check
from tasks.papers.table3.effects import (
    COMPARISONS,
    EFFECTS,
    KEPT_UP,
    SCORES_BY_SEED,
    UNTRAINED,
    effects,
    kept_up,
)
from tasks.papers.table3.paper import ACCURACY, errors_removed, paper_errors_removed

Hits = dict[str, list[float]]


def queries_for(hits: Hits, sources: dict[str, list[str]] | None = None) -> pl.DataFrame:
    return queries_of(
        (f"{test}-{i}", test, "test", "baker", ["a"], 1, (sources or {}).get(test, ["s"] * 999)[i])
        for test, values in hits.items()
        for i in range(len(values))
    )


def scores_of(system: str, hits: Hits, seed: int | None = 1) -> pl.DataFrame:
    """A miss has the right occupation at rank 2."""
    rows = [
        (system, test, f"{test}-{i}", hit, 1.0, 1.0, (1 + hit) / 2, seed)
        for test, values in hits.items()
        for i, hit in enumerate(values)
    ]
    return pl.DataFrame(rows, schema=dict(SCORES_BY_SEED), orient="row")


BEFORE: Hits = {"typos": [1, 0, 0, 0.5], "annotations": [1, 1]}
AFTER: Hits = {"typos": [1, 1, 0, 0], "annotations": [1, 0.5]}
FOUR = pl.concat([scores_of("base", BEFORE), scores_of("typos", AFTER)])


def test_four_queries_by_hand() -> None:
    """Typos, success@1: before (1 + 0 + 0 + 0.5) / 4 = 0.375, after 2 / 4 = 0.5.

    Gain 0.125; of the 1 − 0.375 = 0.625 that was wrong, 0.125 / 0.625 = 0.2 is removed; the paper
    has (0.99 − 0.95) / (1 − 0.95) = 0.8. MRR is (1 + hit) / 2 here, so its gain is half of that.
    Annotations: from 1 to 0.75, and no error of which a share could be removed; the paper has
    (0.77 − 0.69) / (1 − 0.69) = 0.258.
    """
    gains = effects(FOUR, queries_for(BEFORE), 1000, 1)
    assert check(gains, EFFECTS, "effects").rows() == [
        (
            "typos",
            "base",
            test,
            "all",
            metric,
            gain,
            *ends(test, metric),
            n,
            before,
            ours,
            paper,
            own,
            1,
        )
        for test, metric, gain, n, before, ours, paper, own in [
            ("typos", "success_at_1", 0.125, 4, 0.375, 0.2, 0.8, True),
            ("typos", "mrr", 0.0625, 4, 0.6875, None, None, True),
            ("annotations", "success_at_1", -0.25, 2, 1.0, None, 0.258065, False),
            ("annotations", "mrr", -0.125, 2, 1.0, None, None, False),
        ]
    ]


def ends(test: str, metric: str) -> tuple[float, float]:
    """Of the paired bootstrap of the four differences 0, 1, 0, −0.5 (or the two, 0 and −0.5)."""
    after, before = (np.array(hits[test]) for hits in (AFTER, BEFORE))
    scale = 1.0 if metric == "success_at_1" else 0.5
    seed = child_seed(1, "table3", test, "all")
    interval = paired_interval(scale * after, scale * before, 1000, seed)
    return round(interval.low, 6), round(interval.high, 6)


def test_the_paper_by_hand() -> None:
    """(0.99 − 0.95) / 0.05, (0.83 − 0.54) / 0.46, (0.76 − 0.29) / 0.71; Annotations got worse."""
    assert paper_errors_removed("typos", "base", "typos") == pytest.approx(0.80)
    assert paper_errors_removed("synonyms", "typos", "composition") == pytest.approx(
        0.63, abs=0.005
    )
    assert paper_errors_removed("extra_words", "synonyms", "extra_words") == pytest.approx(
        0.66, abs=0.005
    )
    assert paper_errors_removed("verdicts", "extra_words", "annotations") == pytest.approx(
        -0.03 / 0.13
    )
    assert paper_errors_removed("extra_words", "synonyms", "typos") is None  # no error was left
    assert paper_errors_removed("corrections", "extra_words", "typos") is None
    assert paper_errors_removed("typos", "base", "heldout_alias") is None
    assert len(ACCURACY) == 6 * 4
    assert errors_removed(0.5, -0.25) == -0.5


def test_queries_are_paired_by_id_whatever_their_order() -> None:
    shuffled = FOUR.sample(fraction=1, shuffle=True, seed=3)
    keys = ["test", "metric"]
    one, other = (effects(s, queries_for(BEFORE), 200, 1).sort(keys) for s in (FOUR, shuffled))
    assert one.drop("low", "high").equals(other.drop("low", "high"))


def test_other_queries_are_refused() -> None:
    scores = pl.concat([scores_of("base", BEFORE), scores_of("typos", {"typos": [1, 1]})])
    with pytest.raises(
        ValueError, match="models typos and base answered 2 and 6 queries, 2 of them"
    ):
        effects(scores, queries_for(BEFORE), 100, 1)


def test_seeds_are_compared_with_themselves() -> None:
    """Seed 2 has the models the other way round, so its gains have the opposite sign."""
    other = [scores_of("typos", BEFORE, 2), scores_of("base", AFTER, 2)]
    both = effects(pl.concat([FOUR, *other]), queries_for(BEFORE), 100, 1)
    gains = dict(both.filter(test="typos", metric="success_at_1").select("seed", "gain").rows())
    assert gains == {1: 0.125, 2: -0.125}


def test_three_seeds_have_a_row_of_their_mean() -> None:
    """Its interval is that of seeds × queries; gains .125, −.125 and 0 have the mean 0."""
    two = [scores_of("typos", BEFORE, 2), scores_of("base", AFTER, 2)]
    three = [scores_of("typos", AFTER, 3), scores_of("base", AFTER, 3)]
    gains = effects(pl.concat([FOUR, *two, *three]), queries_for(BEFORE), 100, 1)
    row = gains.filter(pl.col("seed").is_null(), test="typos", metric="success_at_1").row(
        0, named=True
    )
    change = np.array(AFTER["typos"]) - np.array(BEFORE["typos"])
    interval = crossed_interval(np.stack([change, -change, 0 * change]))
    assert (row["gain"], row["n"]) == (0.0, 4)
    assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high), abs=1e-6)
    assert row["before"] == pytest.approx((0.375 + 0.5 + 0.5) / 3, abs=1e-6)


def test_each_seed_is_compared_with_what_is_not_trained() -> None:
    """There are no errors of its own for a share; seed 2 answers as TF-IDF does."""
    scores = [
        scores_of("corrections", AFTER),
        scores_of("corrections", BEFORE, 2),
        scores_of("tfidf", BEFORE, None),
    ]
    gains = effects(pl.concat(scores), queries_for(BEFORE), 100, 1)
    own = gains.filter(test="typos", metric="success_at_1")
    assert own.select("over", "seed", "gain", "own").rows() == [
        ("tfidf", 1, 0.125, False),
        ("tfidf", 2, 0.0, False),
    ]


def test_slices_by_source_where_there_are_several() -> None:
    """Typos of one source have one row; the agreeing half gains (1 + 0) / 2 = 0.5."""
    hits: Hits = {"typos": [0, 1], "extra_words": [0, 1, 1, 0]}
    sources = {"extra_words": ["label_agrees", "label_differs", "label_agrees", "label_differs"]}
    scores = [
        scores_of("synonyms", hits),
        scores_of("extra_words", {"typos": [0, 1], "extra_words": [1, 1, 1, 0]}),
    ]
    gains = effects(pl.concat(scores), queries_for(hits, sources), 100, 1)
    rows = gains.filter(metric="success_at_1").select("test", "slice", "gain", "n", "own").rows()
    assert rows == [
        ("typos", "all", 0.0, 2, False),
        ("extra_words", "all", 0.25, 4, True),
        ("extra_words", "source:label_agrees", 0.5, 2, False),
        ("extra_words", "source:label_differs", 0.0, 2, False),
    ]


def test_every_comparison_in_its_order() -> None:
    scores = [
        scores_of(system, BEFORE)
        for system in (
            "base",
            "typos",
            "synonyms",
            "extra_words",
            "verdicts",
            "corrections",
            "untrained",
        )
    ]
    scores += [scores_of(system, BEFORE, None) for system in UNTRAINED]
    gains = effects(pl.concat(scores), queries_for(BEFORE), 100, 1)
    assert gains.select("system", "over").unique(maintain_order=True).rows() == list(COMPARISONS)
    assert set(gains["gain"]) == set(gains["low"]) == set(gains["high"]) == {0.0}
    no_model = effects(scores[0], queries_for(BEFORE), 100, 1)
    assert no_model.is_empty() and no_model.columns == list(EFFECTS)


MANY: Hits = {
    "typos": [1.0, 0.0] * 200,
    "composition": [1.0, 0.0] * 200,
    "extra_words": [1.0, 0.0] * 200,
}
HALVES = {"extra_words": ["label_agrees"] * 200 + ["label_differs"] * 200}


def test_equal_models_keep_up_and_a_worse_one_does_not() -> None:
    """4 is 3; 4c loses every second query of Composition.

    Where the models differ in nothing all resampled means are 0, above −0.01. Extra Words counts
    on its 200 agreeing queries only: on the others 4 is worse, which no verdict sees.
    """
    four = {**MANY, "extra_words": MANY["extra_words"][:200] + [0.0] * 200}
    worse = {**MANY, "composition": [0.0] * 400}
    scores = [
        scores_of("extra_words", MANY),
        scores_of("verdicts", four),
        scores_of("corrections", worse),
    ]
    judged = kept_up(pl.concat(scores), queries_for(MANY, HALVES), 1000, 1)
    columns = ["system", "test", "slice", "difference", "passed", "n"]
    assert check(judged, KEPT_UP, "kept_up").select(columns).rows() == [
        ("verdicts", "typos", "all", 0.0, True, 400),
        ("verdicts", "composition", "all", 0.0, True, 400),
        ("verdicts", "extra_words", "source:label_agrees", 0.0, True, 200),
        ("corrections", "typos", "all", 0.0, True, 400),
        ("corrections", "composition", "all", -0.5, False, 400),
        ("corrections", "extra_words", "source:label_agrees", 0.0, True, 200),
    ]


def test_holm_gives_the_second_test_a_higher_level() -> None:
    """0.025 / 3 for the first of three, then 0.025 / 2, then 0.025."""
    scores = pl.concat([scores_of("extra_words", MANY), scores_of("verdicts", MANY)])
    judged = kept_up(scores, queries_for(MANY, HALVES), 1000, 1)
    assert judged["level"].to_list() == pytest.approx([0.025 / 3, 0.025 / 2, 0.025], abs=1e-6)


def test_a_test_without_queries_is_left_out() -> None:
    """Unlabelled inputs have no agreeing slice: Holm is over the two that there are."""
    hits = {"typos": MANY["typos"], "composition": MANY["composition"]}
    scores = pl.concat([scores_of("extra_words", hits), scores_of("verdicts", hits)])
    judged = kept_up(scores, queries_for(hits), 1000, 1)
    assert judged["test"].to_list() == ["typos", "composition"]
    assert judged["level"].to_list() == pytest.approx([0.025 / 2, 0.025])
    assert kept_up(scores_of("extra_words", hits), queries_for(hits), 1000, 1).columns == list(
        KEPT_UP
    )
