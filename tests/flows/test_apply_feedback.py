"""What the flow `feedback` says of itself; `tests/end_to_end/test_whole_loop.py` runs all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.feedback import facts, feedback_in
from flows.registry import Decision, Registered

COUNTS = {
    "rows_read": {"feedback/a.csv": 1200, "data/score/feedback.csv": 34},
    "rejected": {"feedback/a.csv": {"empty raw_title": 2, "unknown occupation": 3}},
    "told": 1100,
    "no_job_title": 7,
    "conflicts": 4,
}
VERSION = Registered("toy", "3", "challenger", False)


@pytest.mark.parametrize(
    ("done", "model"),
    [
        (None, {"model": "the champion knows all of it already"}),
        (
            (VERSION, Decision(True, "as asked", "")),
            {"model": "toy version 3", "gate": "champion: as asked"},
        ),
        (
            (VERSION, Decision(False, "as asked", "")),
            {"model": "toy version 3", "gate": "not promoted: as asked"},
        ),
    ],
    ids=["nothing", "promoted", "refused"],
)
def test_facts(done: tuple[Registered, Decision] | None, model: dict[str, str]) -> None:
    assert facts(COUNTS, done) == {
        "rows": "1,234 read, 5 refused",
        "titles": "1,100 looked up, 7 of them as none",
        "disputed": "4",
        **model,
    }


def test_without_a_model_the_files_wait(tmp_path: Path) -> None:
    assert feedback_in(tmp_path) == {
        "model": f"none yet in {tmp_path}: `rolecall retrain` learns from the files, too"
    }
