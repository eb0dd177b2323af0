"""Whether a challenger becomes champion: success@1 on the gate's queries, one decision.

It does if, all at once,

- on every test of `gate.gating_tests` it keeps up: the one-sided lower end of the paired
  difference, at an error of `gate.alpha`, lies above −`gate.margin`;
- on no other test it is significantly worse, at an error of `gate.alpha` over these tests;
- some answer differs, and people's verdicts on titles of the customer's own runs show a gain, or
  labelled inputs do and the verdicts have no more losses than wins. With verdicts, labelled inputs
  are no gating test any more. Without verdicts the challenger must lose nothing on the labelled
  inputs, or on the mean of the gating tests.

A challenger that is refused for want of evidence alone is undecided: it can be judged again as
verdicts come, without a greater error. Each test has to pass, so no error is divided among them (an
intersection-union test, Berger 1982). A first version, whose opponent is the untrained network, and
a corrected champion, which has the champion's own network, must only not be significantly worse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import Field

from models.metrics.paired_tests import chance_if_equal, still_needed
from tasks.io.section import Section
from tasks.pipeline.feedback.held_out import RANDOM_TITLES
from tasks.pipeline.feedback.reader import DISPUTED
from tasks.release.gate.figures import SystemResults, TestFigures, significantly_worse

LABELLED = "annotations"  # the test of labelled inputs: what the network is for
UNTRAINED = "the untrained network"
LOOKS = 4  # the error of one look at people's verdicts is that of all looks, divided by this


class GateParams(Section):
    """Section `gate`: the gating tests, by how much one may be worse, and the chance of harm.

    The gate skips a test without queries, such as labelled inputs where there are none. `everyday`
    is a table of titles with answers by hand (`tasks/evaluation/everyday.py`), a path from the
    root; none if empty.
    """

    NAME: ClassVar[str] = "gate"
    gating_tests: Annotated[list[str], Field(min_length=1)]
    margin: Annotated[float, Field(gt=0, lt=1)]
    alpha: Annotated[float, Field(gt=0, lt=0.5)]
    everyday: str


@dataclass(frozen=True)
class GateDecision:
    """The gate's answer and what it rests on."""

    promoted: bool  # whether the challenger takes the champion's place
    reason: str  # in a sentence, with the test that decided
    figures: list[TestFigures]  # of every test, the gating tests first
    undecided: bool = False  # whether verdicts on disputed titles might make it champion


@dataclass(frozen=True)
class Verdicts:
    """Titles that people judged, and those on which challenger (win) or opponent alone is right.

    Neither kind of title is chosen by whether a model is right. The exact sign test is repeated as
    verdicts come: ten looks at a quarter of an error together have less than the error (a constant
    level as Pocock 1977 has it).
    """

    random: int
    disputed: int
    wins: int
    losses: int
    disputed_wins: int
    disputed_losses: int
    level: float  # error of this look

    @classmethod
    def of(cls, answers: Mapping[str, SystemResults], error: float) -> Self:
        """Count among the results of all tests; `error`: of all looks together."""
        random, disputed = (_counts(answers.get(test)) for test in (RANDOM_TITLES, DISPUTED))
        wins, losses = random[1] + disputed[1], random[2] + disputed[2]
        return cls(random[0], disputed[0], wins, losses, *disputed[1:], error / LOOKS)

    @property
    def show_gain(self) -> bool:
        """Whether the challenger is shown to be better."""
        return chance_if_equal(self.wins, self.losses) <= self.level

    def balance(self, opponent: str) -> str:
        """Say how the judged titles stand."""
        return (
            f"the challenger alone is right on {self.wins:,}, {opponent} alone on {self.losses:,} "
            f"of {self.random:,} titles of random rows and {self.disputed:,} disputed titles that "
            "people judged"
        )

    @property
    def needed(self) -> str:
        """Say how many more verdicts would show a gain, if they go as those before."""
        if not self.disputed:
            least = still_needed(self.wins, self.losses, 1, 0, self.level) or 0
            return f"at least {max(least, 1):,} verdicts on disputed titles are needed to decide"
        shares = self.disputed_wins / self.disputed, self.disputed_losses / self.disputed
        more = still_needed(self.wins, self.losses, *shares, self.level)
        if more is None:
            return "more verdicts on disputed titles like these would hardly decide for it"
        return f"{more:,} more verdicts on disputed titles like these would decide for it"


def _counts(results: SystemResults | None) -> tuple[int, int, int]:
    """Count titles, wins and losses; nothing if there is no such test."""
    difference = results.challenger - results.opponent if results else np.array([])
    return len(difference), int(np.sum(difference > 0)), int(np.sum(difference < 0))


def decide(answers: Mapping[str, SystemResults], opponent: str, params: GateParams) -> GateDecision:
    """Judge a challenger; `opponent`: what it is compared with, such as `champion version 3`."""
    verdicts = Verdicts.of(answers, params.alpha)
    judged = bool(verdicts.random or verdicts.disputed)
    named = [test for test in params.gating_tests if test in answers]
    deciding = [test for test in named if not (judged and test == LABELLED)]
    others = {test: own for test, own in answers.items() if test not in deciding}
    figures = [
        TestFigures.of(test, answers[test], params.alpha, params.margin) for test in deciding
    ] + significantly_worse(others, params.alpha)
    if not named:
        names = ", ".join(params.gating_tests)
        help_ = "raise their number (section split), or name other tests in gate.gating_tests"
        return GateDecision(False, f"the gate has no queries of {names}: {help_}", figures)
    if all(np.array_equal(own.challenger, own.opponent) for own in answers.values()):
        same = f"the same of the gate's {sum(own.queries for own in figures)} queries"
        reason = f"the challenger is right on {same} as {opponent}, which therefore stays"
        return GateDecision(False, reason, figures)
    return (_by_verdicts if judged else _by_labels)(figures, verdicts, opponent, params)


def _by_verdicts(
    figures: list[TestFigures], verdicts: Verdicts, opponent: str, params: GateParams
) -> GateDecision:
    """Decide where people have judged titles of the customer's own."""
    if objection := _objection(figures, opponent, params.margin):
        return GateDecision(False, objection, figures)
    balance = verdicts.balance(opponent)
    better = f"better than {opponent} on people's verdicts: {balance}"
    if verdicts.show_gain:
        return GateDecision(True, better, figures)
    gain = next((own for own in figures if own.test == LABELLED and own.low > 0), None)
    if gain and verdicts.wins >= verdicts.losses:
        reason = (
            f"better than {opponent} on {LABELLED} ({gain.difference:+.3f}, at least "
            f"{gain.low:+.3f}), and people's verdicts do not speak against it: {balance}"
        )
        return GateDecision(True, reason, figures)
    reason = f"not shown to be {better}; {verdicts.needed}"
    return GateDecision(False, reason, figures, undecided=True)


def _by_labels(
    figures: list[TestFigures], verdicts: Verdicts, opponent: str, params: GateParams
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
        reason += f"; {verdicts.needed}"
    return GateDecision(promoted, reason, figures, undecided)


def _objection(figures: Sequence[TestFigures], opponent: str, margin: float) -> str:
    """Say on which tests the challenger does not keep up, or is worse; empty if on none."""
    failed = [own for own in figures if own.is_gating and not own.passed]
    if not failed:
        return _losses(figures, opponent)
    last = max(failed, key=lambda own: own.short)
    if last.needed is None:
        help_ = "more queries would not help, the answers have to be better"
    else:
        more = last.needed - last.queries
        help_ = f"with {more:,} more queries and the same answers this would be shown"
    others = ", ".join(own.test for own in failed if own is not last)
    return (
        f"not shown to be within {margin} of {opponent} on {last.test}: {last.difference:+.3f} on "
        f"{last.queries} queries, as low as {last.low:+.3f}; {help_}"
    ) + (f"; nor on {others}" if others else "")


def decide_first(answers: Mapping[str, SystemResults], alpha: float, learned: str) -> GateDecision:
    """Judge a first version against the untrained network; `learned`: what training had to go by.

    `alpha`: chance, over all tests, to refuse a network that learned nothing. A significant gain on
    the labelled inputs, which the network is for, makes up for losses on titles that were made up:
    an untrained bag of n-grams already finds nearly every misspelt title.
    """
    figures = significantly_worse(answers, alpha)
    better = [own.test for own in figures if own.low > 0]
    losses = _losses(figures, UNTRAINED)
    if losses and LABELLED not in better:
        return GateDecision(False, losses, figures)
    kept = losses or f"not significantly worse than {UNTRAINED} on any of {len(figures)} tests"
    if not figures:
        kept = "and the gate has no queries to judge it by (section split)"
    gained = f"better on {', '.join(better)}" if better else f"but no gain is shown: {learned}"
    balance = "; the gain on labelled inputs makes up for that" if losses else ""
    return GateDecision(True, f"a first version, {kept}; {gained}{balance}", figures)


def decide_corrected(
    answers: Mapping[str, SystemResults], opponent: str, alpha: float
) -> GateDecision:
    """Judge a champion with later feedback; `answers`: test to those with it and without."""
    figures = significantly_worse(answers, alpha)
    losses = _losses(figures, opponent)
    kept = f"the network of {opponent} with later feedback, not significantly worse on any of "
    return GateDecision(not losses, losses or f"{kept}{len(figures)} tests", figures)


def _losses(figures: Sequence[TestFigures], opponent: str) -> str:
    """Say on which tests a version is significantly worse; empty if on none."""
    worse = ", ".join(
        f"{own.test} ({own.difference:+.3f} on {own.queries} queries, at most {own.high:+.3f})"
        for own in figures
        if not own.passed
    )
    return f"significantly worse than {opponent} on {worse}" if worse else ""
