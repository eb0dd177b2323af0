"""Training of variants on a toy workspace, and the figures of two models' answers by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shutil import copytree

import numpy as np
import polars as pl
import pytest
import torch
from frames_of import frame_of, variants_of, verdicts_of

from benchmarks.__main__ import measure
from benchmarks.results import read_rows
from benchmarks.studies.feedback.pairs import Material
from benchmarks.studies.feedback.training import Training
from benchmarks.study import study
from benchmarks.workspace import Workspace
from models.network.model_files import load_model
from models.training.run import describe
from tasks.files.frames import write_frame
from tasks.files.schemas import EXTRA_WORDS_VARIANTS, JUDGED, STRINGS, VERDICTS
from tasks.pairing.drawn_pairs import base_pairs
from tasks.pairing.pair_blocks import write_blocks
from tasks.pairing.strings_table import number
from tasks.params.network import training_settings
from tasks.params.whole import AllParams

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
    material = Material(strings, pairs, {"pipeline": verdicts_of(SAID)})
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
    assert not whole.is_pipelines("fine_tuned", 1)
    assert not whole.is_pipelines("3", 2)  # of a seed that the pipeline has not trained


def toy_with_verdicts(toy: Path, folder: Path) -> None:
    """Put verdicts, judged titles and mined inputs of the stages before into a copy of the toy."""
    copytree(toy, folder)
    verdicts = [
        ("a line cook", "line cook", "o2", True, None),
        ("big tram driver", "line cook", "o2", False, "o4"),
    ]
    write_frame(verdicts_of(verdicts), folder / "data/feedback/verdicts.parquet", VERDICTS)
    judged = [
        ("a line cook", "o2", "right", False, "o2", False),
        ("big tram driver", "o2", "wrong", False, "o4", False),
        ("the gate's cook", "o2", "right", False, "o2", True),
        ("nobody knows", "o2", "wrong", False, None, False),
    ]
    write_frame(frame_of(judged, JUDGED), folder / "data/feedback/judged.parquet", JUDGED)
    mined = variants_of(
        [("line cook", "a line cook", "mined", True, "train")], EXTRA_WORDS_VARIANTS
    )
    write_frame(mined, folder / "data/extra_words/variants.parquet", EXTRA_WORDS_VARIANTS)


def test_variants_and_counts_over_seeds(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Figures of each seed and their mean; gains over model 3; every name has a meaning."""
    toy_with_verdicts(toy, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    asked = "3 4c averaged verdicts_0 verdicts_1 verdicts_9"
    options = f"--dataset sample --variants {asked} --seeds 2 --steps 3 --kept kept"
    measure(study("feedback"), options.split(), tmp_path)
    rows = read_rows(tmp_path / "feedback.csv")
    assert list(study("feedback").meanings(rows))
    assert {row["system"] for row in rows} == set(asked.replace("4c", "4c/trained").split())
    known = {row["system"]: row["value"] for row in rows if row["metric"] == "verdicts"}
    assert known["verdicts_0"] == known["3"] == "0"
    assert known["verdicts_1"] == "1"
    assert known["verdicts_9"] == known["4c/trained"] == known["averaged"] == "2"
    own = [row for row in rows if row["test"] == "judged" and row["metric"] == "success_at_1"]
    assert {(row["seed"], row["n"]) for row in own} == {("1", "3"), ("2", "3"), ("", "3")}
    reserved = [row for row in rows if row["test"] == "judged/source:reserved"]
    assert {(row["metric"], row["n"]) for row in reserved} == {
        ("success_at_1", "1"),
        ("gain_over_3", "1"),
    }
    gains = {(row["system"], row["test"]) for row in rows if row["metric"] == "gain_over_3"}
    mine = {("4c/trained", test) for test in ("typos", "corrected")}
    assert mine | {("averaged", "annotations/part:valid")} <= gains
    assert "3" not in {system for system, _ in gains}
    nothing = {
        row["value"]
        for row in rows
        if row["system"] == "verdicts_0" and row["metric"] == "gain_over_3"
    }
    assert nothing == {"0"}
