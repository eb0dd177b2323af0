"""Tables of changed predictions and of the impact on a run's titles, from values as written."""

from __future__ import annotations

from typing import Any

import pytest
from report_world import read

from tasks.release.gate.changed_titles import changed_sections, impact_section
from tasks.release.gate.decision_page import decision_section

IMPACT: dict[str, Any] = {
    "model": "models:/rolecall/6",
    "run_rows": 12000,
    "read_rows": 12000,
    "queried_titles": 2000,
    "queried_rows": 9000,
    "changed_titles": 4,
    "changed_rows": 1290,
    "changed": [
        {"raw_title": "chef <b>", "rows": 700, "before": "waiter", "after": "chef"},
        {"raw_title": "PCP", "rows": 500, "before": None, "after": "general practitioner"},
        {"raw_title": "sous chef", "rows": 60, "before": "waiter", "after": None},
        {"raw_title": "locum", "rows": 30, "before": "locksmith", "after": "physician"},
    ],
}
CHANGED = {
    "test": "typos",
    "raw_title": "cheff",
    "occupation_label": "chef",
    "before": "waiter",
    "after": "chef",
    "change": "wrong to right",
}


def test_words_say_which_rows_and_how_many() -> None:
    """9,000 of 12,000 rows are 75 %, 1,290 of 9,000 are 14.3 %."""
    text = "".join(read("".join(impact_section(IMPACT, "version 7")).encode()).text)
    assert (
        "The last bulk run, answered by models:/rolecall/6, had 12,000 rows; 2,000 titles" in text
    )
    assert "stand in 75% of them." in text
    assert "With version 7, 1,290 rows (14.3% of these) would get another answer." in text
    assert "Another answer, under the one before: 4 titles" in text


def test_the_share_read_of_a_long_run_is_shown() -> None:
    (intro, _) = impact_section(IMPACT | {"run_rows": 36000}, "version 7")
    assert "had 36,000 rows, of which 12,000 were read; 2,000 titles" in intro


def test_titles_stand_under_the_answer_before_the_most_rows_first() -> None:
    """Waiter has 760 rows, no answer 500, locksmith 30."""
    page = "".join(impact_section(IMPACT, "version 7"))
    named = ["waiter</strong>", "chef &lt;b&gt;", "sous chef", "no answer</strong>", "PCP"]
    places = [page.index(name) for name in [*named, "locksmith</strong>"]]
    assert places == sorted(places)
    assert '>sous chef</th><td>no answer</td><td class="number">60</td>' in page


def test_a_run_that_nothing_changes() -> None:
    unchanged = IMPACT | {"changed_titles": 0, "changed_rows": 0, "changed": []}
    (only,) = impact_section(unchanged, "version 7")
    assert "With version 7, they are answered as before." in only


def test_more_titles_than_are_named_are_counted() -> None:
    page = "".join(impact_section(IMPACT | {"changed_titles": 900}, "version 7"))
    assert "900 titles, of which 4 are shown" in page


def test_changed_predictions_have_a_column_of_rows_where_a_run_is_known() -> None:
    changed_predictions = [CHANGED, CHANGED | {"raw_title": "sous cheff", "rows": 1200}]
    page = "".join(changed_sections(changed_predictions, "champion version 6", rows=True))
    assert ">Rows</th>" in page
    assert page.index("sous cheff") < page.index(">cheff<"), "the most frequent one first"
    assert '<td class="number">1,200</td>' in page and '<td class="number"></td>' in page
    assert ">Rows</th>" not in "".join(
        changed_sections(changed_predictions, "champion version 6", rows=False)
    )


@pytest.mark.parametrize("without", [{}, {"impact": None}])
def test_a_decision_without_a_run_is_shown_as_before(without: dict[str, Any]) -> None:
    decision = {
        **{"name": "rolecall", "version": "7", "registered_at": "2026-03-02T04:04:11+00:00"},
        **{"promoted": True, "reason": "better", "opponent": "champion version 6"},
        **{"table_markdown": "", "changed_predictions": [CHANGED]},
    }
    page = decision_section(decision | without)
    assert "cheff" in page
    assert "Impact on the last bulk run" not in page and "Rows" not in page
    assert "Impact on the last bulk run" in decision_section(decision | {"impact": IMPACT})
