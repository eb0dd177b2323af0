"""`rolecall reproduce`: Table 3 from all mixes, through a kill."""

import csv
import re
from pathlib import Path

import pytest
from background import ROLECALL
from clones import FIRST_LOOK, LONGER, Clone
from kills import kill_at, resumed_at, says, survivors

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="looks for survivors in /proc"),
]
KILLED = "train@base-1"  # which `report` does not need
MIXES = ("base", "typos", "synonyms", "extra_words", "verdicts", "corrections")
SYSTEMS = {"ngram", "tfidf", "untrained", *MIXES}
TESTS = {"typos", "composition", "extra_words", "annotations"}


@pytest.fixture(scope="module")
def reproduced(
    retrained: tuple[Clone, str], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Clone, str]:
    """Kill it in the middle where `report` has run, run it again; return what that printed."""
    clone = retrained[0].copied(tmp_path_factory.mktemp("table3"))
    kill_at(says(f"{KILLED}: {FIRST_LOOK}"), clone, *ROLECALL, "reproduce")
    assert survivors(clone) == []
    assert KILLED not in clone.stages()
    return clone, clone.rolecall("reproduce")


def rows(clone: Clone, name: str) -> list[dict[str, str]]:
    with (clone.root / f"data/table3/{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_it_goes_on_where_it_was_killed_and_ends_with_the_table(
    reproduced: tuple[Clone, str],
) -> None:
    """Print the table, then the counts of stages, and where the files lie."""
    clone, printed = reproduced
    assert LONGER["evaluate_every"] <= resumed_at(printed, KILLED) < LONGER["max_steps"]
    assert "train@typos-1: resumed" not in printed
    page = (clone.root / "data/table3/table3.md").read_text(encoding="utf-8")
    head = next(line for line in page.splitlines() if line.startswith("| system"))
    for test in ("Typos", "Composition", "Extra Words", "Annotations"):
        assert f"{test} (n " in head
    _, end = printed.split(page)
    assert re.search(r"^stages +\d+: \d+ ran, \d+ unchanged$", end, re.MULTILINE)
    assert f"table   {clone.root}/data/table3" in end
    assert "data    pushed to DVC's remote" in end
    assert clone.is_up_to_date("table3")


def test_every_system_on_every_test(reproduced: tuple[Clone, str]) -> None:
    """Look into each of the three files, with what each mix gains over the one before."""
    clone, _ = reproduced
    for name in ("table", "summary"):
        whole = [row for row in rows(clone, name) if row["slice"] == "all"]
        measured = {(row["system"], row["test"]) for row in whole}
        assert {system for system, _ in measured} == SYSTEMS
        assert {(system, test) for system in SYSTEMS for test in TESTS} <= measured
    paired = {(row["system"], row["over"], row["test"]) for row in rows(clone, "effects")}
    for pair in (*zip(MIXES[1:5], MIXES[:4], strict=True), ("corrections", "extra_words")):
        assert {(*pair, test) for test in TESTS} <= paired
