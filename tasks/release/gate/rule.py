"""Whether a challenger takes the champion's place: success@1 on the gate's queries, one decision.

A challenger is promoted if, all at once,

- on every test of `gate.decides` it is shown to keep up: the one-sided lower end of the paired
  difference, at an error of `gate.harm`, lies above −`gate.margin`;
- it is no worse than the champion on the labelled inputs, or, where there are none, on the mean of
  the tests that decide;
- on no other test it is shown to be worse, at an error of `gate.harm` over these tests;
- some answer differs.

Each test has to pass, so no error is divided among them: a challenger worse by the margin on any
test that decides is promoted with a chance of `gate.harm` at most (an intersection-union test,
Berger 1982). What this rule can see with how many queries: `docs/results/gate.md`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tasks.release.gate.gate_figures import SystemResults, TestFigures, shown_worse
from tasks.release.gate.params import GateParams

LABELLED = "annotations"
"""The test of labelled inputs: what the network is for."""


@dataclass(frozen=True)
class GateDecision:
    """The gate's answer and what it rests on.

    Attributes:
        promoted: whether the challenger takes the champion's place.
        reason: in a sentence, with the test that decided.
        figures: of every test; those that decide first.
    """

    promoted: bool
    reason: str
    figures: list[TestFigures]


def decide(answers: Mapping[str, SystemResults], opponent: str, params: GateParams) -> GateDecision:
    """Judge a challenger.

    Args:
        answers: test to the answers of the three systems.
        opponent: what the opponent is, for example `champion version 3`.
        params: section `gate`.
    """
    deciding = [test for test in params.gating_tests if test in answers]
    watched = [test for test in answers if test not in deciding]
    figures = [
        TestFigures.of(test, answers[test], params.alpha, params.margin) for test in deciding
    ] + shown_worse({test: answers[test] for test in watched}, params.alpha)
    if not deciding:
        wanted = ", ".join(params.gating_tests)
        help_ = "raise their number (section split), or name other tests in gate.decides"
        return GateDecision(False, f"the gate has no queries of {wanted}: {help_}", figures)
    if all(np.array_equal(own.challenger, own.opponent) for own in answers.values()):
        count = sum(own.queries for own in figures)
        reason = f"it is right and wrong on the same of the gate's {count} queries as {opponent}"
        return GateDecision(False, f"{reason}, which therefore stays", figures)
    return _verdict(figures, opponent, params)


def _verdict(figures: Sequence[TestFigures], opponent: str, params: GateParams) -> GateDecision:
    deciding = [own for own in figures if own.gating_tests]
    worse = [own for own in figures if not own.gating_tests and not own.passed]
    last = max(deciding, key=lambda own: own.short)
    gained = [own for own in deciding if own.test == LABELLED] or deciding
    gain = sum(own.difference for own in gained) / len(gained)
    where = ", ".join(own.test for own in gained)
    if not last.passed:
        reason = f"not shown to be within {params.margin} of {opponent} on {_short_of(last)}"
        others = [own.test for own in deciding if not own.passed and own is not last]
        reason += f"; nor on {', '.join(others)}" if others else ""
    elif worse:
        reason = f"shown worse than {opponent} on " + ", ".join(
            f"{own.test} ({own.difference:+.3f}, at most {own.high:+.3f})" for own in worse
        )
    elif gain < 0:
        reason = f"within {params.margin} of {opponent}, but no better: {gain:+.3f} on {where}"
    else:
        reason = (
            f"within {params.margin} of {opponent} on {', '.join(own.test for own in deciding)}, "
            f"and {gain:+.3f} on {where}; nearest to failing was {last.test}, where {last.needed} "
            f"queries of {last.queries} would have done"
        )
    return GateDecision(last.passed and not worse and gain >= 0, reason, list(figures))


def _short_of(own: TestFigures) -> str:
    """Say of a test that failed where it stands, and what would have shown more."""
    stands = f"{own.test}: {own.difference:+.3f} on {own.queries} queries, as low as {own.low:+.3f}"
    if own.needed is None:
        return f"{stands}; more queries would not help, the answers have to be better"
    more = own.needed - own.queries
    return f"{stands}; {more} more, answered as these, would have shown it"
