"""The rule on invented answers: each way to pass and to fail, and what the decision says of it."""

from dataclasses import asdict

import numpy as np

from tasks.release.gate.figures import SystemResults, as_markdown, by_test
from tasks.release.gate.rule import GateDecision, GateParams, decide, decide_corrected, decide_first

PARAMS = GateParams(gating_tests=["annotations", "typos"], margin=0.02, alpha=0.05, everyday="")
CHAMPION = "champion version 3"


def answers(queries: int, wins: int, losses: int) -> SystemResults:
    """The opponent is right on half of the queries."""
    opponent = np.zeros(queries)
    opponent[: queries // 2] = 1
    challenger = opponent.copy()
    challenger[:losses] = 0
    challenger[queries - wins :] = 1
    return SystemResults(challenger, opponent)


def judge(tests: dict[str, SystemResults]) -> GateDecision:
    return decide(tests, CHAMPION, PARAMS)


ALIKE = answers(1000, 3, 3)


FEW = {"annotations": answers(60, 4, 3), "typos": ALIKE}
"""Labelled inputs that show nothing: 0.017 better, and as much as 0.06 worse."""
GAIN, LOST, SMALL = (400, 30, 10), (400, 18, 26), (10_000, 40, 60)
WON = (40, 25, 5)
NOT_WITHIN = "not shown to be within 0.02"


def decides(outcome: str, *phrases: str, **changes: tuple[int, int, int] | None) -> None:
    """Lay queries, wins and losses of tests over those of few labels; None takes one away."""
    tests = FEW | {test: own and answers(*own) for test, own in changes.items()}
    decision = judge({test: own for test, own in tests.items() if own})
    assert (decision.promoted, decision.undecided) == (outcome == "promote", outcome == "undecided")
    assert [phrase for phrase in phrases if phrase not in decision.reason] == []


def test_no_worse_on_labels_and_within_the_margin_elsewhere_is_promoted() -> None:
    """Typos lose 0.005 of 1,000: shown within 0.02; annotations gain 20 of 400."""
    shown = "within 0.02 of champion version 3 on annotations, typos, and"
    decides("promote", shown, "+0.050 on annotations", annotations=GAIN, typos=(1000, 2, 7))


def test_worse_by_the_margin_is_refused_however_good_the_other() -> None:
    """It is decided, since verdicts say nothing of typos."""
    worse = (1000, 0, 25)
    better = ("on typos: -0.025", "have to be better")
    decides("refuse", *better, annotations=(400, 150, 0), typos=worse)
    both = (f"{NOT_WITHIN} of champion version 3 on annotations", "; nor on typos")
    decides("refuse", *both, annotations=(400, 0, 60), typos=worse)


def test_a_loss_on_labels_is_refused_though_it_is_within_the_margin() -> None:
    """And the mean over the gating tests stands for labels where there are none."""
    decides("refuse", "but no better: -0.002 on annotations", annotations=SMALL)
    chance = "-0.000 on annotations; at least "
    decides("undecided", chance, annotations=(10_000, 48, 52))
    decides("refuse", "-0.002 on typos", annotations=None, typos=SMALL)
    decides("promote", annotations=None, typos=(10_000, 60, 40))


def test_another_test_refuses_only_what_is_significantly_worse() -> None:
    """17 queries show nothing, whatever they say; 20 losses of 200 against none do."""
    decides("promote", annotations=GAIN, extra_words=(17, 0, 1))
    worse = "significantly worse than champion version 3 on heldout_alias (-0.100"
    decides("refuse", worse, annotations=GAIN, heldout_alias=(200, 0, 20))


def test_verdicts_decide_whatever_the_labels_say() -> None:
    """6 wins of verdicts are not enough and 7 are, though labels are lost, not significantly."""
    decides("undecided", "; at least 7 verdicts on disputed titles are needed to decide")
    decides("undecided", NOT_WITHIN, annotations=LOST)
    drawn = (
        "not shown to be better than champion version 3 on people's verdicts: the challenger alone "
        "is right on 3, champion version 3 alone on 0 of 40 titles of random rows and 0 disputed "
        "titles that people judged; at least 4 verdicts on disputed titles are needed to decide"
    )
    three = {"annotations": LOST, "random_titles": (40, 3, 0)}
    decides("undecided", drawn, **three)
    more = "4 more verdicts on disputed titles like these would decide for it"
    decides("undecided", more, **three, disputed=(12, 3, 0))
    shown = "better than champion version 3 on people's verdicts: "
    decides("promote", shown, **three, disputed=(12, 4, 0))


def test_labels_that_show_a_gain_do_if_verdicts_do_not_speak_against_it() -> None:
    """Within the margin is not enough: 30 wins and 10 losses of 400 are, 22 and 18 are not."""
    gain = "better than champion version 3 on annotations (+0.050, at least +0."
    decides("promote", gain, annotations=GAIN, random_titles=(10, 1, 1))
    decides("undecided", annotations=(400, 22, 18), random_titles=(10, 1, 1))
    decides("undecided", annotations=GAIN, random_titles=(10, 0, 1))


def test_verdicts_that_speak_against_it_and_those_that_do_not_make_up_for_a_loss() -> None:
    hardly = "on disputed titles like these would hardly decide for it"
    decides("undecided", hardly, disputed=(20, 3, 6))
    decides("refuse", disputed=(40, 3, 16))
    decides("promote", disputed=WON)
    decides("refuse", "significantly worse", disputed=WON, annotations=(60, 0, 8))
    decides("refuse", disputed=WON, typos=(1000, 0, 25))
    decides("refuse", disputed=WON, heldout_alias=(200, 0, 20))


def test_figures_of_a_decision() -> None:
    tests = {"typos": answers(1000, 2, 7), "extra_words": answers(17, 0, 1)}
    decision = judge(tests | {"annotations": answers(*GAIN)})
    labelled, typos, few = decision.figures
    assert f"nearest to failing was typos, where {typos.needed} queries of 1000" in decision.reason
    assert (labelled.challenger, labelled.opponent, labelled.queries) == (0.55, 0.5, 400)
    assert not few.is_gating and few.needed is None
    shown = judge(FEW | {"disputed": answers(*WON)})
    assert [own.test for own in shown.figures if own.is_gating] == ["typos"]


def test_what_is_not_shown_says_how_many_queries_more_would_show_it() -> None:
    """10 wins and 10 losses of 200: at worst 0.037 worse. As many times as it names, it passes."""
    decision = judge({"annotations": answers(200, 10, 10), "typos": ALIKE})
    figures = decision.figures[0]
    assert figures.needed is not None and -0.04 < figures.low < -0.03
    more = figures.needed - 200
    assert f"on annotations: +0.000 on 200 queries, as low as {figures.low:+.3f}" in decision.reason
    assert f"with {more:,} more queries and the same answers this would be shown" in decision.reason
    times = -(-figures.needed // 200)
    for many, passed in ((1, False), (times, True), (times - 1, False)):
        assert judge({"annotations": answers(200 * many, 10 * many, 10 * many)}).promoted == passed


def test_labels_as_the_only_gating_test_leave_the_verdicts() -> None:
    alone = PARAMS.model_copy(update={"gating_tests": ["annotations"]})
    given = {"annotations": answers(60, 4, 3), "disputed": answers(40, 25, 5)}
    assert decide(given, CHAMPION, alone).promoted
    assert not decide(given | {"disputed": answers(40, 5, 5)}, CHAMPION, alone).promoted


def test_the_same_answers_everywhere_leave_the_champion() -> None:
    same = answers(1000, 0, 0)
    decision = judge({"annotations": same, "typos": same})
    assert not decision.promoted and all(figures.passed for figures in decision.figures)
    assert "the same of the gate's 2000 queries as champion version 3" in decision.reason


def test_nothing_to_decide_by_is_refused() -> None:
    for given in ({}, {"heldout_alias": answers(200, 20, 0)}):
        decision = judge(given)
        assert not decision.promoted
        assert "no queries of annotations, typos: raise their number" in decision.reason


def better(queries: int, difference: int) -> SystemResults:
    """The challenger is right on so many more than half, or fewer."""
    return answers(queries, max(difference, 0), max(-difference, 0))


def test_promoted_unless_significantly_worse() -> None:
    """One query of 100 fewer is no proof; 20 fewer are, and no gain elsewhere makes up for it."""
    good = decide_first({"a": better(100, 20), "b": better(100, -1)}, 0.05, "")
    assert good.promoted
    assert good.reason == (
        "a first version, not significantly worse than the untrained network on any of 2 tests; "
        "better on a"
    )
    bad = decide_first({"a": better(100, 20), "b": better(100, -20)}, 0.05, "")
    assert not bad.promoted
    worse = "significantly worse than the untrained network on b (-0.200 on 100 queries, at most "
    assert bad.reason.startswith(worse)


def test_a_gain_on_the_labelled_inputs_makes_up_for_a_loss_on_made_up_titles() -> None:
    tests = {"annotations": better(100, 20), "typos": better(100, -20)}
    made = decide_first(tests, 0.05, "")
    assert made.promoted
    loss, *gain = made.reason.split("); ")
    assert loss.startswith("a first version, significantly worse than the untrained network on ty")
    assert gain == ["better on annotations; the gain on labelled inputs makes up for that"]
    tests["annotations"] = better(100, 1)
    assert not decide_first(tests, 0.05, "").promoted


def test_no_gain_says_why() -> None:
    same = decide_first({"a": better(10, 0)}, 0.05, "the weights of step 0 were kept")
    assert same.promoted
    assert same.reason.endswith("but no gain is shown: the weights of step 0 were kept")
    none = decide_first({}, 0.05, "because")
    assert none.promoted and "the gate has no queries to judge it by" in none.reason


def test_a_corrected_champion_is_refused_only_where_it_is_significantly_worse() -> None:
    made = decide_corrected({"a": better(100, -1), "b": better(50, 0)}, CHAMPION, 0.05)
    assert made.promoted and made.reason == (
        "the network of champion version 3 with later feedback, not significantly worse on any of "
        "2 tests"
    )
    bad = decide_corrected({"a": better(100, -20)}, CHAMPION, 0.05)
    assert not bad.promoted and bad.reason.startswith("significantly worse than champion version 3")


def test_table_of_a_decision() -> None:
    made = judge({"annotations": answers(100, 3, 3)})
    (figures,) = asdict(made)["figures"]
    decision = {"figures": [figures], "opponent": CHAMPION, "margin": 0.02, "alpha": 0.05}
    page = as_markdown(decision | {"trained_on": 0})
    head, rule, row = page.splitlines()[2:]
    assert head.count("|") == rule.count("|") == row.count("|")
    assert "| annotations | 100 | 0.500 | 0.500 | +0.000 [-0." in row
    assert "] | low above −0.02 | no |" in row
    assert f"| no | {figures['needed']} |" in row
    assert "typos.gate_titles" in page  # what would help
    assert as_markdown(decision | {"trained_on": 3}).endswith("which can only help it.")
    assert as_markdown(decision | {"figures": [], "trained_on": 0}) == ""


def test_results_by_test() -> None:
    """Tests come by name, their queries in one order."""
    challenger, opponent = np.array([1.0, 1, 0]), np.array([0.0, 0, 0.5])
    made = by_test(["b", "a", "b"], challenger, opponent)
    assert list(made) == ["a", "b"]
    assert [own.tolist() for own in made["b"]] == [[1, 0], [0, 0.5]]
