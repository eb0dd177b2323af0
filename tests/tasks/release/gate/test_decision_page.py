"""The report with the gate's decision on top, from a fixture of what the gate writes."""

from pathlib import Path
from typing import Any

import pytest
from page_tables import tables
from report_world import PageReader

from tasks.io.files import write_json
from tasks.pipeline.report.stage import report
from tasks.release.gate.decision_page import (
    DECISION,
    PAGE,
    REPORT,
    decision_page,
    decision_section,
    write_page,
)

FIGURES = ("test", "is_gating", "queries", "challenger", "opponent", "difference", "low", "high")
FIGURES += ("passed", "needed")
CHANGED = ("test", "raw_title", "occupation_label", "before", "after", "change", "rows")
RIGHT, WRONG = "wrong to right", "right to wrong"
DECIDED: dict[str, Any] = {
    **{"name": "rolecall", "version": "7", "registered_at": "2026-03-02T04:04:11.5+01:00"},
    **{"promoted": False, "undecided": False, "opponent": "champion version 6"},
    "reason": "not shown to be within 0.02 of champion version 6 on heldout_alias",
    **{"margin": 0.02, "alpha": 0.05, "trained_on": 3, "impact": None, "disputed": None},
    "table_markdown": "of no use to the page",
    "figures": [
        dict(zip(FIGURES, row, strict=True))
        for row in (
            ("annotations", True, 186, 0.5, 0.473, 0.027, -0.01, 0.06, True, 90),
            ("heldout_alias", False, 400, 0.4, 0.5, -0.1, -0.13, -0.07, False, None),
        )
    ],
    "changed_predictions": [
        dict(zip(CHANGED, row, strict=True))
        for row in (
            ("annotations", "locum G.P.", "physician", "locksmith", "physician", RIGHT, 0),
            ("typos", "cheff <b>", "chef", "chef", "waiter", WRONG, 0),
            ("annotations", "PCP needed", "physician", None, "physician", RIGHT, 1200),
            ("annotations", "angler", "fisher", "jeweller", "fisher", RIGHT, 0),
        )
    ],
}
IMPACT: dict[str, Any] = {
    **{"model": "models:/rolecall/6", "run_rows": 12000, "read_rows": 12000},
    **{"queried_titles": 2000, "queried_rows": 9000, "changed_titles": 4, "changed_rows": 1290},
    "changed": [
        {"raw_title": "chef <b>", "rows": 700, "before": "waiter", "after": "chef"},
        {"raw_title": "PCP", "rows": 500, "before": None, "after": "general practitioner"},
        {"raw_title": "sous chef", "rows": 60, "before": "waiter", "after": None},
        {"raw_title": "locum", "rows": 30, "before": "locksmith", "after": "physician"},
    ],
}


def page_of(**changes: Any) -> str:
    return decision_section(DECIDED | changes)


def words_of(**changes: Any) -> str:
    return PageReader(page_of(**changes)).words


def in_order(page: str, *parts: str) -> bool:
    """Whether the page has all parts, in this order."""
    positions = [page.index(part) for part in parts]
    return positions == sorted(positions)


@pytest.mark.thorough
def test_page_is_the_report_with_one_more_section_first(report_data, tmp_path: Path) -> None:
    below = report(report_data)
    for path, maker in ((REPORT, "dvc repro"), (DECISION, "make retrain")):
        with pytest.raises(FileNotFoundError, match=f"{path} is missing: `{maker}"):
            write_page(tmp_path)
        (tmp_path / path).parent.mkdir(parents=True)
        if path == REPORT:
            (tmp_path / path).write_bytes(below)
    write_json(DECIDED, tmp_path / DECISION)
    write_page(tmp_path)
    made = (tmp_path / PAGE).read_bytes()
    page = made.decode()
    anchors = [value for name, value in PageReader(page).attributes if name == "href"]
    assert anchors[:2] == ["#decision", "#results"]
    assert in_order(page, '<section id="decision"', '<section id="results"')
    assert below.decode().split("<main>")[1].strip() in page
    write_page(tmp_path)
    assert (tmp_path / PAGE).read_bytes() == made
    with pytest.raises(ValueError, match="not the page of the stage report"):
        decision_page("<html></html>", DECIDED)


def test_words_of_the_decision() -> None:
    words = words_of()
    assert "rolecall version 7: not promoted" in words
    assert "Registered on 2 March 2026, 03:04 UTC." in words
    assert "Not promoted: not shown to be within 0.02 of champion version 6 on heldout_" in words
    won = page_of(promoted=True, reason="better.")
    assert "Promoted to champion: better.</strong>" in won


def test_figures_are_a_table() -> None:
    page = page_of()
    caption, rows = next(iter(tables(page).items()))
    assert caption == (
        "Success@1 on the gate&#39;s queries. A challenger that is worse by 0.02 on any test whose "
        "low end is required is promoted with a chance of 0.05 at most."
    )
    gating, other = "low above −0.02", "high not below 0"
    assert rows == [
        ("annotations", "186", "0.500", "0.473", "+0.027 [-0.010, +0.060]", gating, "yes", "90"),
        ("heldout_alias", "400", "0.400", "0.500", "-0.100 [-0.130, -0.070]", other, "no", ""),
    ]
    assert '<th scope="col" class="number">champion version 6</th>' in page
    assert "Note: champion version 6 was trained on another split; 3 of the gate" in words_of()
    earlier = page_of(margin=None, trained_on=0, table_markdown="| a <b> |")
    assert "<pre>| a &lt;b&gt; |</pre>" in earlier, "of a decision that names no margin"


def test_changed_predictions_stand_by_direction_and_occupation_the_most_first() -> None:
    page = page_of()
    assert in_order(
        page,
        *("Right now, wrong before: 3 titles", "physician</strong>", "fisher</strong>"),
        *("Wrong now, right before: 1 title", "chef</strong>", "cheff &lt;b&gt;"),
    )
    assert page.count("physician</strong>") == 1
    assert "no answer" in page and "<td>locksmith</td>" in page and ">Rows</th>" not in page
    known = page_of(impact=IMPACT)
    assert '<td class="number">1,200</td>' in known and '<td class="number"></td>' in known
    below = known.partition("Changed predictions")[2]
    assert in_order(below, ">Rows</th>", "PCP needed", "locum G.P.")


def test_a_long_list_is_cut_and_says_so() -> None:
    first = DECIDED["changed_predictions"][0]
    named = ({"raw_title": f"title {n}.", "occupation_label": f"job {n % 26}"} for n in range(130))
    page = page_of(changed_predictions=[first | names for names in named])
    assert "130 titles, of which 30 are shown" in page
    assert page.count(", 5 titles</th>") == 10
    assert all(f">title {n}.<" in page for n in (0, 26, 52))
    assert "title 78." not in page  # a fourth of the first occupation


def test_nothing_changed_and_nothing_compared() -> None:
    page = page_of(changed_predictions=[], figures=[], trained_on=0)
    assert "No title of the gate went from wrong to right" in page
    assert "<table>" not in page and "Impact on the last bulk run" not in page


@pytest.mark.parametrize("undecided", [True, False])
def test_titles_with_two_answers_are_counted_and_people_are_to_judge_some(undecided: bool) -> None:
    """Three of 40; only an undecided decision has them judged."""
    sample = {"queried": 40, "titles": [["a", None], ["b", "x"], ["c", "y"]]}
    words = words_of(disputed=sample, undecided=undecided)
    assert "Of 40 titles of random rows of the last bulk run" in words
    assert "answer 3 differently (7.5%)" in words
    assert ("The next queue" in words) == undecided
    none = words_of(disputed={"queried": 40, "titles": []}, undecided=True)
    assert "answer 0 differently" in none and "The next queue" not in none
    without = words_of(undecided=undecided)
    assert "random rows" not in without
    assert ("No bulk run was found" in without) == undecided
    assert ("version 7: not yet promoted, waits for people's verdicts" in without) == undecided


def test_impact_says_which_rows_and_how_many() -> None:
    """9,000 of 12,000 rows are 75 %, 1,290 of 9,000 are 14.3 %."""
    words = words_of(impact=IMPACT)
    run = "The last bulk run, answered by models:/rolecall/6, had 12,000 rows"
    assert f"{run}; 2,000 titles, the most frequent ones, stand in 75% of them." in words
    assert "With version 7, 1,290 rows (14.3% of these) would get another answer." in words
    assert "Another answer, under the one before: 4 titles" in words
    partly = words_of(impact=IMPACT | {"run_rows": 36000, "changed_titles": 900})
    assert "had 36,000 rows, of which 12,000 were read; 2,000 titles" in partly
    assert "900 titles, of which 4 are shown" in partly
    unchanged = IMPACT | {"changed_titles": 0, "changed_rows": 0, "changed": []}
    assert "With version 7, they are answered as before." in words_of(impact=unchanged)


def test_titles_of_the_run_stand_under_the_answer_before_the_most_rows_first() -> None:
    """Waiter has 760 rows, no answer 500, locksmith 30."""
    page = page_of(impact=IMPACT)
    named = ("waiter</strong>", "chef &lt;b&gt;", "sous chef", "no answer</strong>", ">PCP<")
    assert in_order(page, *named, "locksmith</strong>")
    caption = "Another answer, under the one before: 4 titles"
    assert ("sous chef", "no answer", "60") in tables(page)[caption]
