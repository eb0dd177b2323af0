"""Training of variants on a toy workspace, and the figures of two models' answers by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shutil import copytree

import numpy as np
import polars as pl
import pytest
import torch
from frames_of import frame_of, queries_of, variants_of, verdicts_of

from benchmarks.__main__ import measure
from benchmarks.results import Row, read_rows
from benchmarks.studies.feedback.measure import (
    Questions,
    compared,
    in_part,
    string_figures,
    test_figures,
)
from benchmarks.studies.feedback.pairs import Material
from benchmarks.studies.feedback.training import Training
from benchmarks.study import study
from benchmarks.workspace import Exam, Workspace
from models.answer.index import AliasIndex
from models.network.model_files import load_model
from models.training.run import describe
from tasks.files.frames import write_frame
from tasks.files.schemas import EXTRA_WORDS_VARIANTS, JUDGED, SCORES, STRINGS, VERDICTS
from tasks.pairing.drawn_pairs import base_pairs
from tasks.pairing.pair_blocks import write_blocks
from tasks.pairing.strings_table import number
from tasks.params.network import training_settings
from tasks.params.whole import AllParams

test_figures.__test__ = False  # type: ignore[attr-defined]
TITLES = [front + job for job in ("baker", "nurse", "pilot") for front in ("", "old ", "new ")]
SAID = [("bread", "baker", "baker", True, None), ("planes", "nurse", "nurse", False, "pilot")]


@pytest.fixture
def params(workspace: Path) -> AllParams:
    """Those of the toy, with few steps."""
    own = Workspace.read("sample").params
    changes = {"batch_pairs": 8, "evaluate_every": 3, "max_steps": 1200, "learning_rate": 0.01}
    return own.model_copy(update={"train": own.train.model_copy(update=changes)})


@pytest.fixture
def training(tmp_path: Path, params: AllParams) -> Training:
    """Three occupations of three titles, a right and a corrected verdict; six steps."""
    rows = [(0, title, [title.split()[-1]], "alias") for title in TITLES]
    strings = number(pl.DataFrame(rows, schema=dict(STRINGS), orient="row"))
    pairs = tmp_path / "pairs.parquet"
    write_blocks(base_pairs(strings, params.pairs, np.random.default_rng(1)), pairs)
    material = Material(strings, pairs, verdicts_of(SAID))
    return Training(Workspace("toy", tmp_path, params), material, tmp_path / "kept", 6)


def weights(folder: Path) -> torch.Tensor:
    return torch.cat([value.flatten() for value in load_model(folder)[1].state_dict().values()])


def test_a_network_is_trained_once(training: Training, capsys: pytest.CaptureFixture[str]) -> None:
    first = training.model("4c", 1)
    assert "step 6/6" in capsys.readouterr().out
    assert training.model("4c", 1) == first
    assert "step" not in capsys.readouterr().out
    others = {training.model(name, 1) for name in ("3", "4", "no_rejections")}
    assert len(others | {first, training.model("4c", 2)}) == 5


def test_fine_tuning_begins_with_model_3_and_the_mean_lies_halfway(
    training: Training, capsys: pytest.CaptureFixture[str]
) -> None:
    """A third of six steps at a third of the rate leaves the weights near those of model 3."""
    control, fresh = training.model("3", 1), training.model("4c", 1)
    capsys.readouterr()
    tuned = training.model("fine_tuned", 1)
    assert "step 2/2" in capsys.readouterr().out
    near, far = weights(tuned) - weights(control), weights(fresh) - weights(control)
    assert 0 < near.norm() < far.norm()
    assert load_model(tuned)[0] == load_model(control)[0]
    before, halfway = weights(tuned), weights(training.model("averaged", 1))
    torch.testing.assert_close(halfway, (weights(control) + before) / 2)
    torch.testing.assert_close(weights(training.model("fine_tuned", 1)), before)


def test_settings_are_those_of_the_pipeline(training: Training) -> None:
    """But for the steps; fine-tuning ends a linear schedule: 2 of 6 steps at 0.01 / 3."""
    full, tuned = training.settings("4c", 7), training.settings("fine_tuned", 7)
    assert replace(tuned, max_steps=6, learning_rate=0.01) == full
    own = training_settings(training.workspace.params.network, 7)
    assert describe(full) == describe(own) | {"max_steps": 6}
    assert tuned.max_steps == 2
    assert tuned.learning_rate == pytest.approx(0.01 / 3)


def test_equal_steps_take_the_pipelines_networks(training: Training) -> None:
    """And say what to do when there are none."""
    whole = replace(training, max_steps=None)
    with pytest.raises(FileNotFoundError, match="make reproduce"):
        whole.model("3", 1)
    folder = training.workspace.data / "train/3/1/model"
    folder.mkdir(parents=True)
    (folder / "weights.safetensors").touch()
    assert whole.model("3", 1) == folder
    assert not whole.is_pipelines("fine_tuned")


QUERIED = [
    *(("typos", f"t{n}", "typo") for n in range(4)),
    *(("extra_words", f"e{n}", "label_agrees" if n < 3 else "label_differs") for n in range(4)),
    *(("annotations", f"a{n}", "input") for n in range(4)),
    *(("corrected", f"c{n}", "input") for n in range(2)),
]


def questions(params: AllParams) -> Questions:
    rows = [(name, test, "test", name, ["baker"], 1, source) for test, name, source in QUERIED]
    index = AliasIndex.of(["baker"], ["baker"])
    return Questions(Exam(params, index, queries_of(rows)), {"a0", "a1"})


def answered(system: str, right: str) -> pl.DataFrame:
    """Schema `SCORES`; `right` names the queries that are answered right."""
    rows = []
    for test, name, _ in QUERIED:
        value = float(name in right.split())
        rows.append((system, test, name, value, value, value, value))
    return pl.DataFrame(rows, schema=dict(SCORES), orient="row")


def by_name(rows: list[Row]) -> dict[tuple[str, str], float]:
    return {(row.test, row.metric): row.value for row in rows}


def test_figures_by_hand(params: AllParams) -> None:
    """Of four typos three are right, of two corrected strings one; slices where sources differ."""
    scores, own = answered("4c", "t0 t1 t2 e0 c1"), questions(params)
    values = by_name([*test_figures(scores, own), *string_figures(scores, own)])
    assert values["typos", "success_at_1"] == values["typos", "mrr"] == 0.75
    assert values["extra_words/source:label_agrees", "success_at_1"] == pytest.approx(1 / 3)
    assert values["extra_words/source:label_differs", "success_at_1"] == 0
    assert values["corrected", "fix_rate"] == 0.5
    assert ("corrected", "success_at_1") not in values
    assert ("typos/source:typo", "success_at_1") not in values


def test_compared_by_hand(params: AllParams) -> None:
    """Typos 2 to 3 of 4: +1/4. Annotations a0 is mended, a2 broken: 0, 1/2 and 1/2.

    Typos get no worse anywhere, so no resample lies below 0; extra words, agreeing, lose all.
    """
    before, after = answered("3", "t0 t1 e0 e1 e2 a2 a3"), answered("x", "t0 t1 t2 a0 a3 c0")
    values = by_name(list(compared(before, after, questions(params))))
    assert values["typos", "gain_over_3"] == 0.25
    assert values["extra_words", "gain_over_3"] == -0.75
    assert values["annotations", "gain_over_3"] == 0
    assert values["corrected", "gain_over_3"] == 0.5
    assert values["typos", "non_inferior"] == 1
    assert values["extra_words/source:label_agrees", "non_inferior"] == 0
    assert values["annotations/same_occupations", "fix_rate"] == 0.5
    assert values["annotations", "side_effects"] == 0.5


def test_tests_of_a_part_are_called_by_it_and_corrected_strings_are_not() -> None:
    assert in_part("typos", "test") == "typos"
    assert in_part("extra_words/source:label_agrees", "valid") == (
        "extra_words/source:label_agrees/part:valid"
    )
    assert in_part("reworded/source:typo", "valid") == "reworded/source:typo"


def test_counts_of_verdicts(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """None, one of two, and as many as there are; each seed's figures, their mean, and gains."""
    copytree(toy, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    verdicts = [
        ("a line cook", "line cook", "o2", True, None),
        ("big tram driver", "line cook", "o2", False, "o4"),
    ]
    write_frame(verdicts_of(verdicts), Path("data/feedback/verdicts.parquet"), VERDICTS)
    judged = [
        ("a line cook", "o2", "right", False, "o2", False),
        ("big tram driver", "o2", "wrong", False, "o4", False),
        ("the gate's cook", "o2", "right", False, "o2", True),
        ("nobody knows", "o2", "wrong", False, None, False),
    ]
    write_frame(frame_of(judged, JUDGED), Path("data/feedback/judged.parquet"), JUDGED)
    options = "--dataset sample --variants --counts 0 1 9 --seeds 2 --steps 3 --kept kept"
    measure(study("feedback"), options.split(), tmp_path)
    rows = read_rows(tmp_path / "feedback.csv")
    assert list(study("feedback").meanings(rows))
    known = {row["system"]: row["value"] for row in rows if row["metric"] == "verdicts"}
    assert known == {"verdicts_0": "0", "verdicts_1": "1", "verdicts_9": "2"}
    mine = [row for row in rows if row["test"] == "judged" and row["metric"] == "success_at_1"]
    assert {(row["seed"], row["n"]) for row in mine} == {("1", "3"), ("2", "3"), ("", "3")}
    reserved = [row for row in rows if row["test"] == "judged/source:reserved"]
    by_metric = {(row["metric"], row["n"]) for row in reserved}
    assert by_metric == {("success_at_1", "1"), ("gain_over_3", "1"), ("gain_of_seeds", "2")}
    gains = {(row["system"], row["test"]) for row in rows if row["metric"] == "gain_over_3"}
    assert {("verdicts_9", "typos"), ("verdicts_1", "annotations/part:valid")} <= gains
    assert "verdicts_0" not in {system for system, _ in gains}


def test_tiny_run(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both parts; corrected strings are asked once; every name has a meaning."""
    copytree(toy, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    verdicts = [("a line cook", "line cook", "o2", False, "o1")]
    frame = verdicts_of(verdicts)
    write_frame(frame, Path("data/feedback/verdicts.parquet"), VERDICTS)
    mined = [("line cook", "a line cook", "mined", True, "train")]
    frame = variants_of(mined, EXTRA_WORDS_VARIANTS)
    write_frame(frame, Path("data/extra_words/variants.parquet"), EXTRA_WORDS_VARIANTS)
    options = "--dataset sample --variants 3 4c averaged --steps 3 --processes 1 --kept kept"
    measure(study("feedback"), options.split(), tmp_path)
    rows = read_rows(tmp_path / "feedback.csv")
    assert list(study("feedback").meanings(rows))
    assert {row["system"] for row in rows} == {"3", "4c", "averaged"}
    gains = {row["test"] for row in rows if row["metric"] == "gain_over_3"}
    assert {"typos", "annotations", "annotations/part:valid", "corrected"} <= gains
    assert not [row for row in rows if row["test"].startswith("corrected/part")]
