"""Whether a challenger takes the champion's place: success@1 on the gate's queries, one decision.

A challenger is promoted if, all at once,

- on every test of `gate.gating_tests` it keeps up: the one-sided lower end of the paired
  difference, at an error of `gate.alpha`, lies above −`gate.margin`;
- it is no worse than the champion on the labelled inputs, or, without any, on the mean of the
  gating tests;
- on no other test it is significantly worse, at an error of `gate.alpha` over these tests;
- some answer differs.

Each test has to pass, so no error is divided among them: a challenger worse by the margin on any
gating test is promoted with a chance of `gate.alpha` at most (an intersection-union test, Berger
1982). `docs/results/gate.md` shows which differences the rule detects with how many queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tasks.release.gate.gate_figures import SystemResults, TestFigures, significantly_worse
from tasks.release.gate.params import GateParams

LABELLED = "annotations"  # the test of labelled inputs: what the network is for


@dataclass(frozen=True)
class GateDecision:
    """The gate's answer and what it rests on."""

    promoted: bool  # whether the challenger takes the champion's place
    reason: str  # in a sentence, with the test that decided
    figures: list[TestFigures]  # of every test, the gating tests first


def decide(answers: Mapping[str, SystemResults], opponent: str, params: GateParams) -> GateDecision:
    """Judge a challenger.

    `opponent`: what the opponent is, for example `champion version 3`; `params`: section `gate`.
    """
    deciding = [test for test in params.gating_tests if test in answers]
    other_tests = [test for test in answers if test not in deciding]
    figures = [
        TestFigures.of(test, answers[test], params.alpha, params.margin) for test in deciding
    ] + significantly_worse({test: answers[test] for test in other_tests}, params.alpha)
    if not deciding:
        names = ", ".join(params.gating_tests)
        help_ = "raise their number (section split), or name other tests in gate.gating_tests"
        return GateDecision(False, f"the gate has no queries of {names}: {help_}", figures)
    if all(np.array_equal(own.challenger, own.opponent) for own in answers.values()):
        count = sum(own.queries for own in figures)
        reason = f"it is right and wrong on the same of the gate's {count} queries as {opponent}"
        return GateDecision(False, f"{reason}, which therefore stays", figures)
    return _decision(figures, opponent, params)


def _decision(figures: Sequence[TestFigures], opponent: str, params: GateParams) -> GateDecision:
    deciding = [own for own in figures if own.is_gating]
    worse = [own for own in figures if not own.is_gating and not own.passed]
    last = max(deciding, key=lambda own: own.short)
    gained = [own for own in deciding if own.test == LABELLED] or deciding
    gain = sum(own.difference for own in gained) / len(gained)
    where = ", ".join(own.test for own in gained)
    if not last.passed:
        reason = f"not shown to be within {params.margin} of {opponent} on {_short_of(last)}"
        others = [own.test for own in deciding if not own.passed and own is not last]
        reason += f"; nor on {', '.join(others)}" if others else ""
    elif worse:
        reason = f"significantly worse than {opponent} on " + ", ".join(
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
    stands = f"{own.test}: {own.difference:+.3f} on {own.queries} queries, as low as {own.low:+.3f}"
    if own.needed is None:
        return f"{stands}; more queries would not help, the answers have to be better"
    more = own.needed - own.queries
    return f"{stands}; with {more:,} more queries and the same answers this would be shown"
