"""The facts of the flow `apply-feedback`; `tests/end_to_end/test_whole_loop.py` runs all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.apply_feedback import apply_feedback, facts
from tasks.release.registry.outcomes import Promotion, RegisteredVersion, VersionAndDecision

COUNTS = {
    "rows_read": {"feedback/a.csv": 1200, "data/simulate_feedback/feedback.csv": 34},
    "rejected": {"feedback/a.csv": {"empty raw_title": 2, "unknown occupation": 3}},
    "overrides": 1100,
    "not_job_titles": 7,
    "conflicts": 4,
}
VERSION = RegisteredVersion("toy", "3", "challenger", False)


@pytest.mark.parametrize(
    ("done", "model"),
    [
        (None, {"model": "the champion has all of this feedback already"}),
        (
            (VERSION, Promotion(True, "as requested", "")),
            {"model": "toy version 3", "gate": "champion: as requested"},
        ),
        (
            (VERSION, Promotion(False, "as requested", "")),
            {"model": "toy version 3", "gate": "not promoted: as requested"},
        ),
    ],
    ids=["nothing", "promoted", "refused"],
)
def test_facts(done: VersionAndDecision | None, model: dict[str, str]) -> None:
    assert facts(COUNTS, done) == {
        "rows": "1,234 read, 5 refused",
        "titles": "1,100 overrides, 7 not job titles",
        "disputed": "4",
        **model,
    }


def test_without_a_model_the_files_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert apply_feedback.fn() == {
        "model": f"none yet in {tmp_path}: `rolecall retrain` also learns from the files"
    }
