"""Whether a challenger takes the champion's place: success@1 on the gate's queries, one decision.

A challenger is promoted if, all at once,

- on every test of `gate.gating_tests` it keeps up: the one-sided lower end of the paired
  difference, at an error of `gate.alpha`, lies above −`gate.margin`;
- it is no worse than the champion on the labelled inputs, or, without any, on the mean of the
  gating tests;
- on no other test it is significantly worse, at an error of `gate.alpha` over these tests;
- some answer differs.

Few labelled inputs can show nothing. If they do not make the challenger significantly worse, it
passes them as well if it is shown to be better by people's replies on disputed titles
(`replies.py`), at an error of `gate.alpha`. If only labelled inputs are wanting, the decision is
undecided, and says how many replies would decide.

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
from tasks.release.gate.replies import Replies

LABELLED = "annotations"  # the test of labelled inputs: what the network is for
DISPUTED = (
    "disputed"  # that of titles on which an earlier challenger differed, with people's replies
)


@dataclass(frozen=True)
class GateDecision:
    """The gate's answer and what it rests on."""

    promoted: bool  # whether the challenger takes the champion's place
    reason: str  # in a sentence, with the test that decided
    figures: list[TestFigures]  # of every test, the gating tests first
    undecided: bool = False  # whether replies on disputed titles might make it champion


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
    replies = Replies.of(answers.get(DISPUTED), answers.get(LABELLED), params.alpha)
    return _decision(figures, replies, opponent, params)


def _decision(
    figures: Sequence[TestFigures], replies: Replies, opponent: str, params: GateParams
) -> GateDecision:
    deciding = [own for own in figures if own.is_gating]
    worse = [own for own in figures if not own.is_gating and not own.passed]
    open_ = [own for own in deciding if own.test == LABELLED and own.high >= 0]
    settled = bool(open_) and replies.show_gain
    failed = [own for own in deciding if not own.passed and not (settled and own in open_)]
    last = max(failed or deciding, key=lambda own: own.short)
    gained = [own for own in deciding if own.test == LABELLED] or deciding
    gain = sum(own.difference for own in gained) / len(gained)
    where = ", ".join(own.test for own in gained)
    if failed:
        reason = f"not shown to be within {params.margin} of {opponent} on {_short_of(last)}"
        others = [own.test for own in failed if own is not last]
        reason += f"; nor on {', '.join(others)}" if others else ""
    elif worse:
        reason = f"significantly worse than {opponent} on " + ", ".join(
            f"{own.test} ({own.difference:+.3f}, at most {own.high:+.3f})" for own in worse
        )
    elif settled:
        reason = f"better than {opponent} on people's replies: {replies}"
    elif gain < 0:
        reason = f"within {params.margin} of {opponent}, but no better: {gain:+.3f} on {where}"
    else:
        reason = (
            f"within {params.margin} of {opponent} on {', '.join(own.test for own in deciding)}, "
            f"and {gain:+.3f} on {where}; nearest to failing was {last.test}, where {last.needed} "
            f"queries of {last.queries} would have done"
        )
    promoted = not failed and not worse and (settled or gain >= 0)
    wanting = all(own in open_ for own in failed) and not worse
    undecided = bool(open_) and wanting and not promoted
    if undecided:
        reason += f"; {replies.needed}"
    return GateDecision(promoted, reason, list(figures), undecided)


def _short_of(own: TestFigures) -> str:
    stands = f"{own.test}: {own.difference:+.3f} on {own.queries} queries, as low as {own.low:+.3f}"
    if own.needed is None:
        return f"{stands}; more queries would not help, the answers have to be better"
    more = own.needed - own.queries
    return f"{stands}; with {more:,} more queries and the same answers this would be shown"
