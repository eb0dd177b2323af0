"""The gate's figures of a test: the systems' answers, their difference, and whether it passes.

In: success@1 of challenger and opponent on the same queries. The rule over all tests is
`tasks/release/gate/rule.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import polars as pl

from models.metrics.paired_shares import PairedShares

MORE = (
    "More labelled inputs come from people's verdicts (section `feedback`), more generated titles "
    "from `typos.gate_titles` and `synonyms.gate_titles`."
)


class SystemResults(NamedTuple):
    """Success@1 of two systems on the queries of one test, in one order."""

    challenger: np.ndarray
    opponent: np.ndarray


@dataclass(frozen=True)
class TestFigures:
    """One test on the decision's page; differences are challenger less opponent.

    Attributes:
        is_gating: whether the challenger must keep up here; else it must not be significantly
            worse.
        needed: queries, answered in these shares, with which a gating test would show that the
            challenger keeps up; None if no number would, or if the test is not gating.
    """

    test: str
    is_gating: bool
    queries: int
    challenger: float
    opponent: float
    difference: float
    low: float  # lower end of the difference, one-sided at the error that the rule gives the test
    high: float  # its upper end, at the same error
    passed: bool  # whether it meets the rule
    needed: int | None

    @classmethod
    def of(cls, test: str, answers: SystemResults, error: float, margin: float | None) -> Self:
        """Judge one test; without a margin the challenger passes unless significantly worse."""
        shares = PairedShares.of(answers.challenger, answers.opponent)
        low, high = shares.low(error), shares.high(error)
        return cls(
            test=test,
            is_gating=margin is not None,
            queries=shares.queries,
            challenger=float(answers.challenger.mean()),
            opponent=float(answers.opponent.mean()),
            difference=shares.difference,
            low=low,
            high=high,
            passed=high >= 0 if margin is None else shares.above(-margin, error),
            needed=None if margin is None else shares.needed(-margin, error),
        )

    @property
    def short(self) -> float:
        """How far from passing: queries needed for each there is; infinite if none would do."""
        return float("inf") if self.needed is None else self.needed / self.queries


def significantly_worse(answers: Mapping[str, SystemResults], error: float) -> list[TestFigures]:
    """Judge tests that a challenger passes unless it is significantly worse; they share `error`."""
    share = error / max(len(answers), 1)
    return [TestFigures.of(test, own, share, None) for test, own in answers.items()]


def as_markdown(figures: Sequence[TestFigures], opponent: str, margin: float, alpha: float) -> str:
    """Return the decision's table and what it means."""
    if not figures:
        return ""
    head = (
        f"| test | queries | challenger | {opponent} | difference [low, high] | required | passed "
        "| queries needed |"
    )
    rule = "| --- |" + " ---: |" * 4 + " --- | --- | ---: |"
    keeps_up, not_worse = f"low above −{margin:g}", "high not below 0"
    rows = [
        f"| {f.test} | {f.queries} | {f.challenger:.3f} | {f.opponent:.3f} "
        f"| {f.difference:+.3f} [{f.low:+.3f}, {f.high:+.3f}] "
        f"| {keeps_up if f.is_gating else not_worse} | {'yes' if f.passed else 'no'} "
        f"| {'' if f.needed is None else f.needed} |"
        for f in figures
    ]
    notes = ["Success@1 on the gate's queries."]
    if any(own.is_gating for own in figures):
        notes.append(
            f"A challenger that is worse by {margin:g} on any test whose low end is required is "
            f"promoted with a chance of {alpha:g} at most."
        )
    if any(own.needed and not own.passed for own in figures):
        notes.append(MORE)
    return "\n".join([" ".join(notes), "", head, rule, *rows])


def by_test(scores: pl.DataFrame) -> dict[str, SystemResults]:
    """Return the systems' answers on each test, the queries in one order.

    `scores`: schema `SCORES` with the systems `challenger` and `opponent`.

    Raises:
        ValueError: a system is missing, or lacks queries of another one.
    """
    key = ["test", "query_id"]
    wide = scores.pivot("system", index=key, values="success_at_1").sort(key)
    missing = [name for name in SystemResults._fields if name not in wide.columns]
    if len(wide) and (missing or wide.null_count().sum_horizontal().item()):
        raise ValueError(f"the systems must answer the same queries; without any: {missing}")
    return {
        str(test): SystemResults(*(group[name].to_numpy() for name in SystemResults._fields))
        for (test,), group in wide.group_by(["test"], maintain_order=True)
    }
