"""The report with the gate's decision on top, from a fixture of what the gate writes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from report_world import read

from tasks.pipeline.report.page import report
from tasks.release.gate.decision_page import (
    DECISION,
    PAGE,
    REPORT,
    decision_page,
    decision_section,
    main,
)

TABLE = """success@1 on the **gate's** queries, margin 0.01

| test | queries | difference |
| --- | ---: | --- |
| annotations | 186 | +0.027 |
| `typos` | 400 | -0.007 |

Note: champion version 6 saw 3 of the titles."""
DECIDED: dict[str, Any] = {
    "name": "rolecall",
    "version": "7",
    "registered_at": "2026-03-02T04:04:11.5+01:00",
    "promoted": False,
    "reason": "not shown to be within 0.01 of champion version 6 on heldout_alias",
    "opponent": "champion version 6",
    "table_markdown": TABLE,
    "figures": [],
    "changed_predictions": [
        ("annotations", "locum G.P.", "general practitioner", "locksmith", "general practitioner"),
        ("typos", "cheff <b>", "chef", "chef", "waiter"),
        ("annotations", "PCP needed", "general practitioner", None, "general practitioner"),
        ("annotations", "angler", "fisher", "jeweller", "fisher"),
    ],
}
KEYS = ("test", "raw_title", "occupation_label", "before", "after")


@pytest.fixture
def decided() -> dict[str, Any]:
    """Return a decision as the gate writes it."""
    changed_predictions = [
        dict(zip(KEYS, row, strict=True)) for row in DECIDED["changed_predictions"]
    ]
    for title in changed_predictions:
        right = title["after"] == title["occupation_label"]
        title["change"] = "wrong to right" if right else "right to wrong"
    return {**DECIDED, "changed_predictions": changed_predictions}


@pytest.fixture
def folder(report_data, decided, tmp_path, monkeypatch):
    """Make a working directory with the report and the decision."""
    monkeypatch.chdir(tmp_path)
    for path, content in ((REPORT, report(report_data)), (DECISION, json.dumps(decided).encode())):
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    return tmp_path


@pytest.mark.thorough
def test_page_is_the_report_with_one_more_section_first(folder):
    main()
    made = PAGE.read_bytes()
    reader = read(made)
    anchors = [value for name, value in reader.attributes if name == "href"]
    assert anchors[:2] == ["#decision", "#results"]
    page, below = made.decode(), REPORT.read_text(encoding="utf-8")
    first = page.index('<section id="decision"')
    assert first < page.index('<section id="results"')
    assert below.split("<main>")[1].strip() in page
    main()
    assert PAGE.read_bytes() == made


def test_words_of_the_decision(decided):
    text = "".join(read(decision_section(decided).encode()).text)
    assert "rolecall version 7: not promoted" in text
    assert "Registered on 2 March 2026, 03:04 UTC." in text
    assert (
        "Not promoted: not shown to be within 0.01 of champion version 6 on heldout_alias." in text
    )
    won = decision_section({**decided, "promoted": True, "reason": "better."})
    assert "Promoted to champion: better.</strong>" in won


def test_gate_s_table_is_a_table(decided):
    page = decision_section(decided)
    assert "<caption>success@1 on the gate&#x27;s queries, margin 0.01</caption>" in page
    assert '<th scope="col" class="number">queries</th>' in page
    assert '<th scope="row">typos</th><td class="number">400</td><td>-0.007</td>' in page
    assert "<p>Note: champion version 6 saw 3 of the titles.</p>" in page


def test_changed_predictions_stand_by_direction_and_occupation_the_most_first(decided):
    page = decision_section(decided)
    gained, lost = page.index("Right now, wrong before: 3 titles"), page.index("Wrong now")
    assert gained < page.index("general practitioner</strong>") < page.index("fisher</strong>")
    assert page.index("fisher</strong>") < lost < page.index("chef</strong>")
    assert page.count("general practitioner</strong>") == 1
    assert "no answer" in page and "<td>locksmith</td>" in page
    assert "cheff &lt;b&gt;" in page


def test_a_long_list_is_cut_and_says_so(decided):
    first = decided["changed_predictions"][0]
    many = [
        {**first, "raw_title": f"title {n}.", "occupation_label": f"job {n % 26}"}
        for n in range(130)
    ]
    page = decision_section({**decided, "changed_predictions": many})
    assert "130 titles, of which 30 are shown" in page
    assert page.count(", 5 titles</th>") == 10
    assert all(f">title {n}.<" in page for n in (0, 26, 52))
    assert "title 78." not in page  # a fourth of the first occupation


def test_nothing_changed_and_nothing_compared(decided):
    page = decision_section({**decided, "changed_predictions": [], "table_markdown": ""})
    assert "No title of the gate went from wrong to right" in page
    assert "<table>" not in page


@pytest.mark.thorough
@pytest.mark.parametrize(("path", "maker"), [(DECISION, "make retrain"), (REPORT, "dvc repro")])
def test_a_missing_file_is_named(folder, path, maker):
    path.unlink()
    with pytest.raises(FileNotFoundError, match=f"{path} is missing: `{maker}"):
        main()
    assert not PAGE.exists()


def test_another_page_is_refused(decided):
    with pytest.raises(ValueError, match="not the page of the stage report"):
        decision_page("<html></html>", decided)


@pytest.mark.parametrize("undecided", [True, False])
def test_titles_with_two_answers_are_counted_and_people_are_to_judge_some(decided, undecided):
    """Three of 40; only an undecided decision has them judged."""
    sample = {"queried": 40, "titles": [["a", None], ["b", "x"], ["c", "y"]]}
    page = decision_section(decided | {"disputed": sample, "undecided": undecided})
    assert "Of 40 titles of random rows of the last bulk run" in page
    assert "answer 3 differently (7.5%)" in page
    assert ("The next queue" in page) == undecided
    none = decision_section(
        decided | {"disputed": {"queried": 40, "titles": []}, "undecided": True}
    )
    assert "answer 0 differently" in none and "The next queue" not in none
    without = decision_section(decided | {"disputed": None, "undecided": undecided})
    assert "random rows" not in without
    assert ("No bulk run was found" in without) == undecided
    assert ("version 7: not yet promoted, waits for people&#x27;s replies" in without) == undecided
