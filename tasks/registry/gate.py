"""Whether a challenger takes the place of its opponent: success@1 on the gate's queries, per test.

Against a champion: promote when the challenger is non-inferior on every test and better on at least
one: the lower end of the paired bootstrap interval, Holm over the tests, lies above −`MARGIN` and
above 0 (`models/measures/intervals.py`). A first version has nothing to keep up with: it is
promoted when it is better than the untrained network on at least one test and shown worse on none
(an untrained network answers typos nearly perfectly, so that non-inferiority there could hardly be
shown).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from models.measures.intervals import MARGIN, Interval, non_inferior, paired_interval

METRIC = "success_at_1"


@dataclass(frozen=True)
class TestFigures:
    """One test on the decision's page; differences are challenger less opponent."""

    test: str
    queries: int
    challenger: float
    opponent: float
    ngram: float
    difference: float
    low: float
    """Lower end of the difference, at the level of Holm's step-down with the margin."""
    kept_up: bool
    """Non-inferior to the champion; for a first version, not shown worse than the untrained."""
    better: bool
    over_ngram: Interval
    """Challenger less n-gram matcher, 95 %; it takes no part in the decision."""


@dataclass(frozen=True)
class Verdict:
    """The gate's answer and what it rests on."""

    promoted: bool
    reason: str
    figures: list[TestFigures]


def decide(
    scores: pl.DataFrame, opponent: str, draws: int, seed: int, *, first: bool = False
) -> Verdict:
    """Judge the system `challenger` against `opponent` (a name for the reason, too).

    Args:
        scores: schema `SCORES` with the systems `challenger`, `opponent`, `ngram`, each with the
            same queries.
        opponent: what the opponent is, for example `champion version 3`.
        draws: of the bootstrap, 1000 or more.
        seed: of the draws.
        first: whether the opponent is the untrained network, for want of a champion.

    Raises:
        ValueError: a system is missing, or lacks queries of another one.
    """
    values = _by_test(scores)
    if not values:
        return Verdict(False, "there are no queries of the gate; see section split", [])
    differences = {test: v["challenger"] - v["opponent"] for test, v in values.items()}
    held = non_inferior(differences, MARGIN, draws, seed)
    better = non_inferior(differences, 0.0, draws, seed)
    worse = non_inferior({test: -values for test, values in differences.items()}, 0.0, draws, seed)
    figures = [
        TestFigures(
            test=test,
            queries=len(differences[test]),
            challenger=float(v["challenger"].mean()),
            opponent=float(v["opponent"].mean()),
            ngram=float(v["ngram"].mean()),
            difference=held[test].value,
            low=held[test].low,
            kept_up=not worse[test].passed if first else held[test].passed,
            better=better[test].passed,
            over_ngram=paired_interval(v["challenger"], v["ngram"], draws, seed),
        )
        for test, v in values.items()
    ]
    return _verdict(figures, opponent, first)


def _verdict(figures: list[TestFigures], opponent: str, first: bool) -> Verdict:
    worse = [f.test for f in figures if not f.kept_up]
    better = [f.test for f in figures if f.better]
    if worse:
        how = "worse than" if first else f"not shown to be within {MARGIN} of"
        reason = f"{how} {opponent} on {', '.join(worse)}"
    elif not better:
        reason = f"better than {opponent} on no test"
    else:
        kept = "worse on none" if first else f"within {MARGIN} on every test"
        reason = f"better than {opponent} on {', '.join(better)}, {kept}"
    return Verdict(bool(better) and not worse, reason, figures)


def as_markdown(figures: list[TestFigures], opponent: str) -> str:
    """Return the decision's table, and where the challenger stands against the n-gram matcher."""
    head = (
        f"| test | queries | challenger | {opponent} | difference | lower end | kept up "
        "| better | ngram | less ngram [95 %] |"
    )
    rows = [
        f"| {f.test} | {f.queries} | {f.challenger:.3f} | {f.opponent:.3f} | {f.difference:+.3f} "
        f"| {f.low:+.3f} | {_word(f.kept_up)} | {_word(f.better)} | {f.ngram:.3f} "
        f"| {f.over_ngram.value:+.3f} [{f.over_ngram.low:+.3f}, {f.over_ngram.high:+.3f}] |"
        for f in figures
    ]
    rule = "| --- |" + " ---: |" * 5 + " --- | --- |" + " ---: |" * 2
    return "\n".join([f"success@1 on the gate's queries, margin {MARGIN}", "", head, rule, *rows])


def _word(passed: bool) -> str:
    return "yes" if passed else "no"


def _by_test(scores: pl.DataFrame) -> dict[str, dict[str, np.ndarray]]:
    """Return values of each system per test, the queries in one order."""
    wide = scores.pivot("system", index=["test", "query_id"], values=METRIC).sort(
        "test", "query_id"
    )
    systems = ["challenger", "opponent", "ngram"]
    missing = [name for name in systems if name not in wide.columns]
    if len(wide) and (missing or wide.null_count().sum_horizontal().item()):
        raise ValueError(f"the systems must answer the same queries; without any: {missing}")
    return {
        str(test): {name: group[name].to_numpy() for name in systems}
        for (test,), group in wide.group_by(["test"], maintain_order=True)
    }
