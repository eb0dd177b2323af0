"""The facts of the flow `apply-feedback`; `tests/end_to_end/test_whole_loop.py` runs all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.apply_feedback import apply_feedback, facts
from tasks.release.registry.outcomes import Patched, Promotion, RegisteredVersion

LABELS = "data/simulate_feedback/feedback.csv"
COUNTS = {
    "rows_read": {"feedback/a.csv": 1200, "feedback/b.csv": 30, LABELS: 34},
    "rejected": {"feedback/a.csv": {"empty raw_title": 2, "unknown occupation": 3}},
    "overrides": 1100,
    "not_job_titles": 7,
    "rejected_answers": 2,
    "conflicts": 4,
}
NOTHING = COUNTS | {"rows_read": {LABELS: 34}, "rejected": {}}
VERSION = RegisteredVersion("toy", "3", "challenger", False)
OTHER = RegisteredVersion("toy", "4", "champion", False)
NEITHER = Patched(None, None)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tree(tmp_path / "clone")


def tree(root: Path) -> Path:
    """Make a tree of parameters with three files of feedback, of which two can be."""
    (root / "feedback").mkdir(parents=True)
    (root / "params.yaml").write_text("feedback: {folder: feedback}")
    for name in ("a.csv", "b.csv", "README.md"):
        (root / "feedback" / name).touch()
    return root


@pytest.mark.parametrize(
    ("done", "model"),
    [
        (NEITHER, {"model": "the champion has all of this feedback already"}),
        (
            Patched((VERSION, Promotion(True, "as requested", "")), None),
            {"model": "toy version 3", "gate": "champion: as requested"},
        ),
        (
            Patched(
                (VERSION, Promotion(False, "as requested", "")),
                (OTHER, Promotion(True, "better on people's replies", "")),
            ),
            {
                "model": "toy version 3",
                "gate": "not promoted: as requested",
                "challenger": "toy version 4",
                "replies": "champion: better on people's replies",
            },
        ),
    ],
    ids=["nothing", "promoted", "refused, and the challenger promoted"],
)
def test_facts(root: Path, done: Patched, model: dict[str, str]) -> None:
    assert facts(COUNTS, done, root) == {
        "files": f"2 in {root / 'feedback'}",
        "rows": "1,230 read, 5 refused",
        "titles": "1,100 overrides, 7 not job titles, 2 answers not given again",
        "conflict": "4",
        **model,
    }


def test_without_a_file_it_names_the_folder_where_it_looked(root: Path, tmp_path: Path) -> None:
    """Do not say of rows that nobody read that the champion has them."""
    for name in ("a.csv", "b.csv"):
        (root / "feedback" / name).unlink()
    outcome = facts(NOTHING, NEITHER, root)
    assert (outcome["files"], outcome["rows"]) == (f"0 in {root}/feedback", "0 read, 0 refused")
    assert outcome["model"] == f"unchanged: no file of feedback in {root}/feedback"
    workspace = tree(root / ".workspaces/mine")
    assert facts(NOTHING, NEITHER, workspace)["files"] == f"0 in {root}/feedback/mine"


def test_files_of_another_kind_are_named(root: Path) -> None:
    (root / "feedback/notes.odt").touch()
    (root / "feedback/.hidden").touch()
    assert facts(COUNTS, NEITHER, root)["skipped"] == "notes.odt: of a kind that is not read"


def test_without_a_model_the_files_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert apply_feedback.fn() == {
        "model": f"none yet in {tmp_path}: `rolecall retrain --profile sample` also learns "
        "from the files"
    }
    (tmp_path / ".workspaces/mine").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / ".workspaces/mine")
    assert "`rolecall retrain --profile mine` also" in apply_feedback.fn()["model"]
