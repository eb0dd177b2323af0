"""Whether a challenger takes the champion's place: success@1 on the gate's queries, one decision.

A challenger is promoted if, all at once,

- on every test of `gate.gating_tests` it keeps up: the one-sided lower end of the paired
  difference, at an error of `gate.alpha`, lies above −`gate.margin`;
- on no other test it is significantly worse, at an error of `gate.alpha` over these tests;
- it is better as the following paragraphs say;
- some answer differs.

**People's replies** decide what is better, if there are any: titles of random rows and disputed
ones of the customer's own runs (`replies.py`). Labelled inputs are others than the customer's then,
so they are no gating test any more. The challenger is better if the replies show a gain at an error
of `gate.alpha`, or if it is significantly better on labelled inputs and the replies have no more
losses than wins.

**Without replies** the challenger must be no worse than the champion on the labelled inputs, or,
without any, on the mean of the gating tests.

If a challenger is refused for want of evidence alone, the decision is undecided, and says how many
replies would decide. It can then be judged again as replies come, without a greater error.

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
    replies = Replies.of(answers, params.alpha)
    named = [test for test in params.gating_tests if test in answers]
    deciding = [test for test in named if not (replies.titles and test == LABELLED)]
    other_tests = [test for test in answers if test not in deciding]
    figures = [
        TestFigures.of(test, answers[test], params.alpha, params.margin) for test in deciding
    ] + significantly_worse({test: answers[test] for test in other_tests}, params.alpha)
    if not named:
        names = ", ".join(params.gating_tests)
        help_ = "raise their number (section split), or name other tests in gate.gating_tests"
        return GateDecision(False, f"the gate has no queries of {names}: {help_}", figures)
    if all(np.array_equal(own.challenger, own.opponent) for own in answers.values()):
        count = sum(own.queries for own in figures)
        reason = f"it is right and wrong on the same of the gate's {count} queries as {opponent}"
        return GateDecision(False, f"{reason}, which therefore stays", figures)
    judge = _by_replies if replies.titles else _by_labels
    return judge(figures, replies, opponent, params)


def _by_replies(
    figures: Sequence[TestFigures], replies: Replies, opponent: str, params: GateParams
) -> GateDecision:
    """Decide where people have judged titles of the customer's own."""
    objection = _objection(figures, opponent, params.margin)
    if objection:
        return GateDecision(False, objection, list(figures))
    if replies.show_gain:
        reason = f"better than {opponent} on people's replies: {replies}"
        return GateDecision(True, reason, list(figures))
    gain = next((own for own in figures if own.test == LABELLED and own.low > 0), None)
    if gain and replies.wins >= replies.losses:
        reason = (
            f"better than {opponent} on {LABELLED} ({gain.difference:+.3f}, at least "
            f"{gain.low:+.3f}), and people's replies do not speak against it: {replies}"
        )
        return GateDecision(True, reason, list(figures))
    reason = f"not shown to be better than {opponent} on people's replies: {replies}"
    return GateDecision(False, f"{reason}; {replies.needed}", list(figures), undecided=True)


def _by_labels(
    figures: Sequence[TestFigures], replies: Replies, opponent: str, params: GateParams
) -> GateDecision:
    """Decide where nobody has judged anything."""
    deciding = [own for own in figures if own.is_gating]
    gained = [own for own in deciding if own.test == LABELLED] or deciding
    gain = sum(own.difference for own in gained) / len(gained)
    where = ", ".join(own.test for own in gained)
    reason = _objection(figures, opponent, params.margin)
    promoted = not reason and gain >= 0
    if promoted:
        last = max(deciding, key=lambda own: own.short)
        reason = (
            f"within {params.margin} of {opponent} on {', '.join(own.test for own in deciding)}, "
            f"and {gain:+.3f} on {where}; nearest to failing was {last.test}, where {last.needed} "
            f"queries of {last.queries} would have done"
        )
    elif not reason:
        reason = f"within {params.margin} of {opponent}, but no better: {gain:+.3f} on {where}"
    refusing = [own for own in figures if not own.passed and own.test != LABELLED]
    may_gain = any(own.test == LABELLED and own.high >= 0 for own in deciding)
    undecided = may_gain and not refusing and not promoted
    if undecided:
        reason += f"; {replies.needed}"
    return GateDecision(promoted, reason, list(figures), undecided)


def _objection(figures: Sequence[TestFigures], opponent: str, margin: float) -> str:
    """Say on which tests the challenger does not keep up, or is worse; empty if on none."""
    failed = [own for own in figures if own.is_gating and not own.passed]
    if failed:
        last = max(failed, key=lambda own: own.short)
        others = [own.test for own in failed if own is not last]
        reason = f"not shown to be within {margin} of {opponent} on {_short_of(last)}"
        return reason + (f"; nor on {', '.join(others)}" if others else "")
    worse = ", ".join(
        f"{own.test} ({own.difference:+.3f}, at most {own.high:+.3f})"
        for own in figures
        if not own.passed
    )
    return f"significantly worse than {opponent} on {worse}" if worse else ""


def _short_of(own: TestFigures) -> str:
    stands = f"{own.test}: {own.difference:+.3f} on {own.queries} queries, as low as {own.low:+.3f}"
    if own.needed is None:
        return f"{stands}; more queries would not help, the answers have to be better"
    more = own.needed - own.queries
    return f"{stands}; with {more:,} more queries and the same answers this would be shown"
