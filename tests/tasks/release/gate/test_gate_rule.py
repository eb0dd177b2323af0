"""The rule on invented answers: each way to pass and to fail, and what the decision says of it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tasks.io.schemas import SCORES
from tasks.release.gate.gate_figures import SystemResults, as_markdown, by_test
from tasks.release.gate.params import GateParams
from tasks.release.gate.rule import decide

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


ALIKE = answers(1000, 3, 3)


def test_no_worse_on_labels_and_within_the_margin_elsewhere_is_promoted() -> None:
    """Typos lose 0.005 of 1,000: shown within 0.02; annotations gain 20 of 400."""
    verdict = decide(
        {"annotations": answers(400, 30, 10), "typos": answers(1000, 2, 7)}, CHAMPION, PARAMS
    )
    assert verdict.promoted
    assert verdict.reason.startswith("within 0.02 of champion version 3 on annotations, typos, and")
    labelled, typos = verdict.figures
    assert "+0.050 on annotations" in verdict.reason
    assert f"nearest to failing was typos, where {typos.needed} queries of 1000" in verdict.reason
    assert (labelled.challenger, labelled.opponent, labelled.queries) == (0.55, 0.5, 400)


def test_what_is_not_shown_is_refused_and_says_how_many_queries_more_would_show_it() -> None:
    """10 wins and 10 losses of 200: at worst 0.037 worse. As many times as it names, it passes."""
    verdict = decide({"annotations": answers(200, 10, 10), "typos": ALIKE}, CHAMPION, PARAMS)
    assert not verdict.promoted
    figures = verdict.figures[0]
    assert figures.needed is not None and -0.04 < figures.low < -0.03
    more = figures.needed - 200
    assert f"on annotations: +0.000 on 200 queries, as low as {figures.low:+.3f}" in verdict.reason
    assert f"with {more:,} more queries and the same answers this would be shown" in verdict.reason
    times = -(-figures.needed // 200)
    for many, passed in ((times, True), (times - 1, False)):
        one = {"annotations": answers(200 * many, 10 * many, 10 * many)}
        assert decide(one, CHAMPION, PARAMS).promoted == passed


def test_worse_by_the_margin_is_refused_however_good_the_other() -> None:
    bad = {"annotations": answers(400, 150, 0), "typos": answers(1000, 0, 25)}
    verdict = decide(bad, CHAMPION, PARAMS)
    assert not verdict.promoted
    assert "on typos: -0.025" in verdict.reason and "have to be better" in verdict.reason
    assert not verdict.undecided, "replies say nothing of typos"
    both = decide(bad | {"annotations": answers(400, 0, 60)}, CHAMPION, PARAMS)
    assert "not shown to be within 0.02 of champion version 3 on annotations" in both.reason
    assert both.reason.endswith("; nor on typos")


def test_a_loss_on_labels_is_refused_though_it_is_within_the_margin() -> None:
    """And the mean over the gating tests stands for labels where there are none."""
    small = answers(10_000, 40, 60)
    verdict = decide({"annotations": small, "typos": ALIKE}, CHAMPION, PARAMS)
    assert not verdict.promoted
    assert verdict.reason.endswith("but no better: -0.002 on annotations")
    assert not verdict.undecided, "a significant loss"
    chance = decide({"annotations": answers(10_000, 48, 52), "typos": ALIKE}, CHAMPION, PARAMS)
    assert chance.undecided and "-0.000 on annotations; at least " in chance.reason
    unlabelled = decide({"typos": small}, CHAMPION, PARAMS)
    assert not unlabelled.promoted and unlabelled.reason.endswith("-0.002 on typos")
    assert decide({"typos": answers(10_000, 60, 40)}, CHAMPION, PARAMS).promoted


def test_another_test_refuses_only_what_is_significantly_worse() -> None:
    """17 queries show nothing, whatever they say; 20 losses of 200 against none do."""
    good = {"annotations": answers(400, 30, 10), "typos": ALIKE}
    few = decide(good | {"extra_words": answers(17, 0, 1)}, CHAMPION, PARAMS)
    assert few.promoted and not few.figures[-1].is_gating and few.figures[-1].needed is None
    worse = decide(good | {"heldout_alias": answers(200, 0, 20)}, CHAMPION, PARAMS)
    assert not worse.promoted
    assert "significantly worse than champion version 3 on heldout_alias (-0.100" in worse.reason


FEW = {"annotations": answers(60, 4, 3), "typos": ALIKE}
"""Labelled inputs that show nothing: 0.017 better, and as much as 0.06 worse."""


def test_few_labels_leave_it_undecided_and_say_what_people_could_reply() -> None:
    verdict = decide(FEW, CHAMPION, PARAMS)
    assert not verdict.promoted and verdict.undecided
    assert verdict.reason.endswith("; at least 7 answers on disputed titles are needed to decide")


def test_replies_decide_whatever_the_labels_say() -> None:
    """6 wins of replies are not enough and 7 are, though labels are lost, not significantly."""
    lost = FEW | {"annotations": answers(400, 18, 26)}
    assert "not shown to be within 0.02" in decide(lost, CHAMPION, PARAMS).reason
    drawn = decide(lost | {"random_titles": answers(40, 3, 0)}, CHAMPION, PARAMS)
    assert not drawn.promoted and drawn.undecided
    assert drawn.reason == (
        "not shown to be better than champion version 3 on people's replies: of 40 titles of "
        "random rows and 0 disputed ones that people judged, it alone is right on 3 and wrong on "
        "0; at least 4 answers on disputed titles are needed to decide"
    )
    more = lost | {"random_titles": answers(40, 3, 0), "disputed": answers(12, 3, 0)}
    verdict = decide(more, CHAMPION, PARAMS)
    assert not verdict.promoted and verdict.undecided
    assert verdict.reason.endswith(
        "4 more answers on disputed titles like these would decide for it"
    )
    shown = decide(more | {"disputed": answers(12, 4, 0)}, CHAMPION, PARAMS)
    assert shown.promoted and not shown.undecided
    assert shown.reason.startswith("better than champion version 3 on people's replies: of 40 ")
    assert [own.test for own in shown.figures if own.is_gating] == ["typos"]


def test_labels_that_show_a_gain_do_if_replies_do_not_speak_against_it() -> None:
    """Within the margin is not enough: 30 wins and 10 losses of 400 are, 22 and 18 are not."""
    even = {"random_titles": answers(10, 1, 1), "typos": ALIKE}
    gained = decide(even | {"annotations": answers(400, 30, 10)}, CHAMPION, PARAMS)
    assert gained.promoted
    assert "better than champion version 3 on annotations (+0.050, at least +0." in gained.reason
    for other in (
        {"annotations": answers(400, 22, 18)},
        {"annotations": answers(400, 30, 10), "random_titles": answers(10, 0, 1)},
    ):
        verdict = decide(even | other, CHAMPION, PARAMS)
        assert not verdict.promoted and verdict.undecided


def test_replies_that_speak_against_it() -> None:
    verdict = decide(FEW | {"disputed": answers(20, 3, 6)}, CHAMPION, PARAMS)
    assert not verdict.promoted and verdict.undecided
    assert verdict.reason.endswith("on disputed titles like these would hardly decide for it")
    worse = decide(FEW | {"disputed": answers(40, 3, 16)}, CHAMPION, PARAMS)
    assert not worse.undecided, "significantly worse on them"


def test_replies_do_not_make_up_for_a_significant_loss() -> None:
    """Neither on labels, nor on typos, nor on another test."""
    good = FEW | {"disputed": answers(40, 25, 5)}
    assert decide(good, CHAMPION, PARAMS).promoted
    for bad in (
        {"annotations": answers(60, 0, 8)},
        {"typos": answers(1000, 0, 25)},
        {"heldout_alias": answers(200, 0, 20)},
    ):
        verdict = decide(good | bad, CHAMPION, PARAMS)
        assert not verdict.promoted and not verdict.undecided
        assert "annotations" not in bad or "significantly worse" in verdict.reason


def test_labels_as_the_only_gating_test_leave_the_replies() -> None:
    alone = PARAMS.model_copy(update={"gating_tests": ["annotations"]})
    given = {"annotations": answers(60, 4, 3), "disputed": answers(40, 25, 5)}
    assert decide(given, CHAMPION, alone).promoted
    assert not decide(given | {"disputed": answers(40, 5, 5)}, CHAMPION, alone).promoted


def test_the_same_answers_everywhere_leave_the_champion() -> None:
    same = answers(1000, 0, 0)
    verdict = decide({"annotations": same, "typos": same}, CHAMPION, PARAMS)
    assert not verdict.promoted and all(figures.passed for figures in verdict.figures)
    assert "the same of the gate's 2000 queries as champion version 3" in verdict.reason


def test_nothing_to_decide_by_is_refused() -> None:
    for given in ({}, {"heldout_alias": answers(200, 20, 0)}):
        verdict = decide(given, CHAMPION, PARAMS)
        assert not verdict.promoted
        assert "no queries of annotations, typos: raise their number" in verdict.reason


def test_page() -> None:
    figures = decide({"annotations": answers(100, 3, 3)}, CHAMPION, PARAMS).figures
    page = as_markdown(figures, CHAMPION, PARAMS.margin, PARAMS.alpha)
    head, rule, row = page.splitlines()[2:]
    assert head.count("|") == rule.count("|") == row.count("|")
    assert "| annotations | 100 | 0.500 | 0.500 | +0.000 [-0." in row
    assert "] | low above −0.02 | no |" in row
    assert f"| no | {figures[0].needed} |" in row
    assert "`typos.gate_titles`" in page  # what would help
    assert as_markdown([], CHAMPION, 0.02, 0.05) == ""


def frame(values: dict[str, dict[str, list[float]]]) -> pl.DataFrame:
    rows = [
        (system, test, f"q{number}", *[value] * 4)
        for system, tests in values.items()
        for test, own in tests.items()
        for number, value in enumerate(own)
    ]
    return pl.DataFrame(rows, schema=dict(SCORES), orient="row")


def test_answers_by_test_whatever_the_order_of_rows() -> None:
    values = {"challenger": {"b": [1.0, 0.0], "a": [1.0]}}
    values |= {"opponent": {"b": [0.0, 0.5], "a": [0.0]}}
    for scores in (frame(values), frame(values).sample(fraction=1, shuffle=True, seed=1)):
        made = by_test(scores)
        assert list(made) == ["a", "b"]
        assert [own.tolist() for own in made["b"]] == [[1, 0], [0, 0.5]]
    assert by_test(pl.DataFrame(schema=dict(SCORES))) == {}


def test_other_queries_or_a_missing_system_are_an_error() -> None:
    values = {"challenger": {"a": [1.0, 0.0]}, "opponent": {"a": [1.0]}}
    with pytest.raises(ValueError, match="the same queries"):
        by_test(frame(values))
    with pytest.raises(ValueError, match="opponent"):
        by_test(frame({"challenger": values["challenger"]}))
