"""The gate's figures of a test: the systems' answers, their difference, and whether it passes.

In: success@1 of challenger and opponent on the same queries. The rule over all tests is
`tasks/release/gate/rule.py`. A decision's page and its Markdown show the figures as one table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from models.metrics.paired_tests import PairedShares
from tasks.io.command import markdown_table

MORE = (
    "More labelled inputs come from people's verdicts (section feedback), more generated titles "
    "from typos.gate_titles and synonyms.gate_titles."
)


class SystemResults(NamedTuple):
    """Success@1 of two systems on the queries of one test, in one order."""

    challenger: np.ndarray
    opponent: np.ndarray


@dataclass(frozen=True)
class TestFigures:
    """One test on the decision's page; differences are challenger less opponent.

    `needed` are queries, answered in these shares, with which a gating test would show that the
    challenger keeps up; None if no number would, or if the test is not gating.
    """

    test: str
    is_gating: bool  # whether the challenger must keep up; else: not be significantly worse
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


def by_test(
    tests: Sequence[str], challenger: np.ndarray, opponent: np.ndarray
) -> dict[str, SystemResults]:
    """Return the systems' results on each test, given the test of each query."""
    names = np.array(tests, object)
    return {
        test: SystemResults(challenger[names == test], opponent[names == test])
        for test in sorted(set(tests))
    }


def figures_table(decision: Mapping[str, Any]) -> tuple[str, list[str], list[list[str]]]:
    """Return what the figures of a decision mean, the head of their table, and its rows.

    `decision`: `figures, opponent, margin, alpha`, as `data/gate/decision.json` has them.
    """
    figures, margin = decision["figures"], decision["margin"]
    notes = ["Success@1 on the gate's queries."]
    if any(own["is_gating"] for own in figures):
        notes.append(
            f"A challenger that is worse by {margin:g} on any test whose low end is required is "
            f"promoted with a chance of {decision['alpha']:g} at most."
        )
    if any(own["needed"] and not own["passed"] for own in figures):
        notes.append(MORE)
    head = ["test", "queries", "challenger", decision["opponent"], "difference [low, high]"]
    rows = [
        [
            own["test"],
            f"{own['queries']}",
            f"{own['challenger']:.3f}",
            f"{own['opponent']:.3f}",
            f"{own['difference']:+.3f} [{own['low']:+.3f}, {own['high']:+.3f}]",
            f"low above −{margin:g}" if own["is_gating"] else "high not below 0",
            "yes" if own["passed"] else "no",
            "" if own["needed"] is None else f"{own['needed']}",
        ]
        for own in figures
    ]
    return " ".join(notes), [*head, "required", "passed", "queries needed"], rows


def trained_on_note(decision: Mapping[str, Any]) -> str:
    """Say how many of the gate's titles the opponent was trained on; empty if on none."""
    if not decision["trained_on"]:
        return ""
    return (
        "Note: {opponent} was trained on another split; {trained_on} of the gate's titles were in "
        "its training, which can only help it.".format(**decision)
    )


def as_markdown(decision: Mapping[str, Any]) -> str:
    """Write the table of a decision and what it means."""
    notes, head, rows = figures_table(decision)
    table = markdown_table(head, rows, ["---", *["---:"] * 4, "---", "---", "---:"])
    parts = [f"{notes}\n\n{table}" if rows else "", trained_on_note(decision)]
    return "\n\n".join(part for part in parts if part)
