"""Verdicts of another system's answers, and of another judge, on the toy taxonomy."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import polars as pl
import pytest
from frames_of import inputs_of, variants_of, verdicts_of

from benchmarks.studies.feedback.opinions import opinions
from benchmarks.workspace import Workspace
from tasks.files.frames import write_frame
from tasks.files.schemas import EXTRA_WORDS_VARIANTS, FEEDBACK, SPLIT_INPUTS, VERDICTS

INPUTS = [
    ("night line cook wanted", "o2", "train"),
    ("fast line cook", "o1", "train"),  # holds a title of o2, and is labelled otherwise
    ("drives a tram", "o4", "train"),
    ("asked by a test", "o4", "annotations"),
]
SCORED = [
    ("night line cook wanted", "o2", "line cook", "right", None),
    ("fast line cook", "o2", "line cook", "wrong", "o1"),
    ("drives a tram", "o0", "data entry clerk", "wrong", "o4"),
]
PIPELINE = [("night line cook wanted", "line cook", "o2", True, None)]


@pytest.fixture
def there(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    copytree(toy, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    write_frame(inputs_of(INPUTS), Path("data/split/inputs.parquet"), SPLIT_INPUTS)
    write_frame(verdicts_of(PIPELINE), Path("data/feedback/verdicts.parquet"), VERDICTS)
    rows = [(*row[:3], "v", *row[3:], "labels", "2026-01-01") for row in SCORED]
    Path("data/score").mkdir()
    pl.DataFrame(rows, schema=dict(FEEDBACK), orient="row").write_csv("data/score/feedback.csv")
    mined = [("line cook", "fast line cook", "mined", False, "train")]
    frame = variants_of(mined, EXTRA_WORDS_VARIANTS)
    write_frame(frame, Path("data/extra_words/variants.parquet"), EXTRA_WORDS_VARIANTS)
    return Workspace.read("sample")


def said(kind: str, there: Workspace) -> dict[str, tuple[str, bool]]:
    """All titles are trained on, so that none is kept for the gate."""
    verdicts = opinions(kind, there, {title for title, *_ in INPUTS})
    assert verdicts.columns == list(VERDICTS)
    rows = verdicts.select("raw_title", "predicted_occupation_id", "right").rows()
    return {title: (occupation, right) for title, occupation, right in rows}


def test_the_pipelines_own(there: Workspace) -> None:
    assert said("pipeline", there) == {"night line cook wanted": ("o2", True)}


def test_the_matchers_answers_judged_by_labels(there: Workspace) -> None:
    """It reads characters: "drives a tram" is nearest to the tram driver, which its label says."""
    assert said("matcher", there) == {
        "night line cook wanted": ("o2", True),
        "fast line cook": ("o2", False),
        "drives a tram": ("o4", True),
    }


def test_the_networks_answers_judged_by_the_titles_within(there: Workspace) -> None:
    """Its answer to "fast line cook" is right for who reads, and its label says no."""
    assert said("titles", there) == {
        "night line cook wanted": ("o2", True),
        "fast line cook": ("o2", True),
        "drives a tram": ("o0", False),
    }


def test_reserved_titles_are_not_trained_on(there: Workspace) -> None:
    """As in the stage `feedback`: by their hash, unless mix 3 has learned them."""
    every = {title for title, *_ in INPUTS}
    kept = opinions("matcher", there, set())["raw_title"].to_list()
    assert set(kept) < every


def test_what_is_missing_is_named(there: Workspace) -> None:
    Path("data/feedback/verdicts.parquet").unlink()
    with pytest.raises(FileNotFoundError, match="make reproduce"):
        opinions("matcher", there, set())
