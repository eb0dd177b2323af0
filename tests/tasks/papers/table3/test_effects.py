"""Gains, shares of errors and non-inferiority on four queries worked by hand, and on many."""

import numpy as np
import polars as pl
import pytest
from frames_of import queries_of

from models.metrics.intervals import crossed_interval, paired_interval
from models.reproducibility import child_seed
from tasks.io.frames import check
from tasks.io.mixes import MIXES
from tasks.papers.table3.effects import (
    COMPARISONS,
    EFFECTS,
    KEPT_UP,
    SCORES_BY_SEED,
    UNTRAINED,
    effects,
    errors_removed,
    kept_up,
    paper_errors_removed,
)

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


def effects_of(*scores: pl.DataFrame, draws: int = 100) -> pl.DataFrame:
    return effects(pl.concat(scores), queries_for(BEFORE), draws, 1)


def test_four_queries_by_hand() -> None:
    """Typos, success@1: before (1 + 0 + 0 + 0.5) / 4 = 0.375, after 2 / 4 = 0.5.

    Gain 0.125; of the 1 − 0.375 = 0.625 that was wrong, 0.125 / 0.625 = 0.2 is removed; the paper
    has (0.99 − 0.95) / (1 − 0.95) = 0.8. MRR is (1 + hit) / 2 here, so its gain is half of that.
    Annotations: from 1 to 0.75, and no error of which a share could be removed; the paper has
    (0.77 − 0.69) / (1 − 0.69) = 0.258. Intervals are those of the paired bootstrap.
    """
    rows = []
    for test, metric, *figures in [
        ("typos", "success_at_1", 0.125, 4, 0.375, 0.2, 0.8, True),
        ("typos", "mrr", 0.0625, 4, 0.6875, None, None, True),
        ("annotations", "success_at_1", -0.25, 2, 1.0, None, 0.258065, False),
        ("annotations", "mrr", -0.125, 2, 1.0, None, None, False),
    ]:
        scale = 1.0 if metric == "success_at_1" else 0.5
        after, before = (scale * np.array(hits[str(test)]) for hits in (AFTER, BEFORE))
        ends = paired_interval(after, before, 1000, child_seed(1, "table3", str(test), "all"))
        low, high = round(ends.low, 6), round(ends.high, 6)
        rows.append(("typos", "base", test, "all", metric, figures[0], low, high, *figures[1:], 1))
    assert check(effects_of(FOUR, draws=1000), EFFECTS, "effects").rows() == rows


@pytest.mark.parametrize(
    ("system", "over", "test", "removed"),
    [
        ("typos", "base", "typos", (0.99 - 0.95) / 0.05),
        ("verdicts", "extra_words", "annotations", -0.03 / 0.13),
        ("extra_words", "synonyms", "typos", None),  # no error was left
        ("corrections", "extra_words", "typos", None),
        ("typos", "base", "heldout_alias", None),
    ],
)
def test_the_paper_by_hand(system: str, over: str, test: str, removed: float | None) -> None:
    assert paper_errors_removed(system, over, test) == pytest.approx(removed)
    assert errors_removed(0.5, -0.25) == -0.5


def test_queries_are_paired_by_id_whatever_their_order() -> None:
    gains, shuffled = effects_of(FOUR), effects_of(FOUR.sample(fraction=1, shuffle=True, seed=3))
    one, other = (frame.sort("test", "metric").drop("low", "high") for frame in (gains, shuffled))
    assert one.equals(other)


def test_other_queries_are_refused() -> None:
    with pytest.raises(ValueError, match="typos and base answered 2 and 6 queries, 2 of them"):
        effects_of(scores_of("base", BEFORE), scores_of("typos", {"typos": [1, 1]}))


def test_seeds_are_compared_with_themselves_and_three_have_a_row_of_their_mean() -> None:
    """Seed 2 has the models the other way round, so its gains have the opposite sign.

    The mean's interval is that of seeds × queries; gains .125, −.125 and 0 have the mean 0.
    """
    two = [scores_of("typos", BEFORE, 2), scores_of("base", AFTER, 2)]
    three = [scores_of("typos", AFTER, 3), scores_of("base", AFTER, 3)]
    gains = effects_of(FOUR, *two, *three).filter(test="typos", metric="success_at_1")
    assert dict(gains["seed", "gain"].rows()) == {1: 0.125, 2: -0.125, 3: 0.0, None: 0.0}
    assert effects_of(FOUR, *two)["seed"].null_count() == 0
    row = gains.filter(pl.col("seed").is_null()).row(0, named=True)
    change = np.array(AFTER["typos"]) - np.array(BEFORE["typos"])
    interval = crossed_interval(np.stack([change, -change, 0 * change]))
    assert row["n"] == 4
    assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high), abs=1e-6)
    assert row["before"] == pytest.approx((0.375 + 0.5 + 0.5) / 3, abs=1e-6)


def test_each_seed_is_compared_with_what_is_not_trained() -> None:
    """There are no errors of its own for a share; seed 2 answers as TF-IDF does."""
    trained = [scores_of("corrections", AFTER), scores_of("corrections", BEFORE, 2)]
    gains = effects_of(*trained, scores_of("tfidf", BEFORE, None))
    own = gains.filter(test="typos", metric="success_at_1")
    columns = own["over", "seed", "gain", "own"]
    assert columns.rows() == [("tfidf", 1, 0.125, False), ("tfidf", 2, 0.0, False)]


def test_slices_by_source_where_there_are_several() -> None:
    """Typos of one source have one row; the agreeing half gains (1 + 0) / 2 = 0.5."""
    hits: Hits = {"typos": [0, 1], "extra_words": [0, 1, 1, 0]}
    sources = {"extra_words": ["label_agrees", "label_differs", "label_agrees", "label_differs"]}
    better: Hits = {"typos": [0, 1], "extra_words": [1, 1, 1, 0]}
    scores = pl.concat([scores_of("synonyms", hits), scores_of("extra_words", better)])
    gains = effects(scores, queries_for(hits, sources), 100, 1).filter(metric="success_at_1")
    assert gains["test", "slice", "gain", "n", "own"].rows() == [
        ("typos", "all", 0.0, 2, False),
        ("extra_words", "all", 0.25, 4, True),
        ("extra_words", "source:label_agrees", 0.5, 2, False),
        ("extra_words", "source:label_differs", 0.0, 2, False),
    ]


def test_every_comparison_in_its_order() -> None:
    scores = [scores_of(system, BEFORE) for system in (*MIXES, "untrained")]
    gains = effects_of(*scores, *(scores_of(system, BEFORE, None) for system in UNTRAINED))
    assert gains["system", "over"].unique(maintain_order=True).rows() == list(COMPARISONS)
    assert set(gains["gain"]) == set(gains["low"]) == set(gains["high"]) == {0.0}
    no_model = effects_of(scores[0])
    assert no_model.is_empty() and no_model.columns == list(EFFECTS)


MANY: Hits = dict.fromkeys(("typos", "composition", "extra_words"), [1.0, 0.0] * 200)
HALVES = {"extra_words": ["label_agrees"] * 200 + ["label_differs"] * 200}


def test_equal_models_keep_up_and_a_worse_one_does_not() -> None:
    """`verdicts` is `extra_words`; `corrections` loses every second query of Composition.

    Where the models differ in nothing all resampled means are 0, above −0.01. Extra Words counts
    on its 200 agreeing queries only: on the others `verdicts` is worse, and no row shows that. The
    levels are Holm's: 0.025 / 3 for the first of three, then 0.025 / 2, then 0.025.
    """
    equal = {**MANY, "extra_words": MANY["extra_words"][:200] + [0.0] * 200}
    worse = {**MANY, "composition": [0.0] * 400}
    by_system = {"extra_words": MANY, "verdicts": equal, "corrections": worse}
    scores = pl.concat([scores_of(system, hits) for system, hits in by_system.items()])
    tested = kept_up(scores, queries_for(MANY, HALVES), 1000, 1)
    columns = ["system", "test", "slice", "difference", "passed", "n"]
    assert check(tested, KEPT_UP, "kept_up").select(columns).rows() == [
        ("verdicts", "typos", "all", 0.0, True, 400),
        ("verdicts", "composition", "all", 0.0, True, 400),
        ("verdicts", "extra_words", "source:label_agrees", 0.0, True, 200),
        ("corrections", "typos", "all", 0.0, True, 400),
        ("corrections", "composition", "all", -0.5, False, 400),
        ("corrections", "extra_words", "source:label_agrees", 0.0, True, 200),
    ]
    levels = tested.filter(system="verdicts")["level"].to_list()
    assert levels == pytest.approx([0.025 / 3, 0.025 / 2, 0.025], abs=1e-6)


def test_a_test_without_queries_is_left_out() -> None:
    """Unlabelled inputs have no agreeing slice: Holm is over the two that there are."""
    hits = {"typos": MANY["typos"], "composition": MANY["composition"]}
    base = scores_of("extra_words", hits)
    tested = kept_up(pl.concat([base, scores_of("verdicts", hits)]), queries_for(hits), 1000, 1)
    assert tested["test"].to_list() == ["typos", "composition"]
    assert tested["level"].to_list() == pytest.approx([0.025 / 2, 0.025])
    assert kept_up(base, queries_for(hits), 1000, 1).columns == list(KEPT_UP)
