"""Networks of studies: trained once, resumed, kept, and named by all that they depend on."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import networks as title_networks
from benchmarks.networks import Job, TitleNetworks, bounded, training_code
from benchmarks.pair_networks import PairNetwork, PairNetworks
from benchmarks.workspace import Workspace
from models.encoders.word_average import WordAverageSettings
from models.losses.regression import RegressionSettings
from models.training.loop import Look, TrainSettings
from models.training.scored_run import ScoredPairs
from tasks.check_params import AllParams
from tasks.pipeline.train import training_settings

VALUES: dict[str, Any] = {"seed": 1, "batch_pairs": 2, "learning_rate": 0.1, "clip_norm": 1.0}
VALUES |= {"schedule": "constant", "l2": 0.0, "max_steps": 6, "evaluate_every": 2, "patience": 9}
ENCODER = WordAverageSettings(max_length=9, min_count=1, dim=4)
SETTINGS = TrainSettings(encoder=ENCODER, loss=RegressionSettings("exp_manhattan"), **VALUES)
TRAIN = ScoredPairs.of(["a b", "c", "a"], ["a", "d", "c d"], [0.9, 0.4, 0.0])
VALIDATION = ScoredPairs.of(["b", "c d"], ["a", "a b"], [0.8, 0.1])
TEST = ScoredPairs.of(["a", "b", "c"], ["d", "b a", "c"], [0.1, 0.6, 1.0])
JOB = Job("toy", SETTINGS)


@pytest.fixture
def params(workspace: Path) -> AllParams:
    return Workspace.read("sample").params


@pytest.fixture
def on_titles(workspace: Path, tmp_path: Path) -> TitleNetworks:
    return TitleNetworks(tmp_path / "kept", 1, Workspace.read("sample").pairs("extra_words"))


@pytest.fixture
def on_pairs(tmp_path: Path) -> PairNetworks:
    return PairNetworks(tmp_path, 1, TRAIN, VALIDATION, {"test": TEST}, TEST)


def test_a_network_is_trained_once(
    params: AllParams, on_titles: TitleNetworks, capsys: pytest.CaptureFixture[str]
) -> None:
    """And the weights of the last step are another network's than those of the best look."""
    settings = bounded(training_settings(params.network, 1), 8, 3)
    assert (settings.evaluate_every, settings.patience, settings.seed) == (2, 9, 3)
    made = on_titles.outcome(Job("it", settings))
    assert "it: step 8/8" in capsys.readouterr().out
    assert [look.step for look in made.looks] == [0, 2, 4, 6, 8]
    assert on_titles.outcome(Job("again", settings)).folder == made.folder
    assert "step" not in capsys.readouterr().out
    assert on_titles.outcome(Job("other", replace(settings, seed=4))).folder != made.folder
    assert replace(on_titles, last=True).outcome(Job("", settings)).folder != made.folder
    assert not list(on_titles.kept.glob("*.safetensors"))


def test_a_network_is_named_by_the_code_that_trains_it(
    params: AllParams, on_titles: TitleNetworks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code that answers titles and comments do not count (stage `training_code_hash`)."""
    job = Job("it", bounded(training_settings(params.network, 1), 2))
    made = on_titles.outcome(job).folder
    known = training_code(job.settings, "models.training.train_files")
    assert "models/training/title_run.py" in known
    assert "models/encoders/recurrent.py" in known
    assert "models/serving/model.py" not in known
    monkeypatch.setattr(title_networks, "code_of", lambda *_: {"models/a.py": "another"})
    assert on_titles.outcome(job).folder != made


def test_a_network_on_pairs_is_trained_once_and_tracked_pairs_change_no_weight(
    on_pairs: PairNetworks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three looks behind the one before training; equal strings are equally embedded."""
    tracked, untracked = on_pairs.outcome(JOB), replace(on_pairs, track=None).outcome(JOB)
    assert [look.step for look in tracked.looks] == [0, 2, 4, 6]
    assert (len(tracked.tracked), untracked.tracked) == (4, [])
    assert tracked.answers == untracked.answers
    assert len(tracked.answers["test"]) == 3 and tracked.answers["test"][2] == 1
    assert tracked.looks[1:] == untracked.looks[1:]  # the first has a loss that is no number
    monkeypatch.setattr(PairNetworks, "_trained", lambda _, job: pytest.fail(f"trained {job}"))
    again = on_pairs.outcome(Job("another name", SETTINGS))
    assert again.answers == tracked.answers
    np.testing.assert_array_equal(again.looks, tracked.looks)


def test_all_that_an_outcome_depends_on_names_it(
    on_pairs: PairNetworks, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = PairNetwork([Look(0, 0, 0, 0, 0.5)], {}, [])
    monkeypatch.setattr(PairNetworks, "_trained", lambda *_: kept)
    other = ScoredPairs.of(["a b", "c", "a"], ["a", "d", "c d"], [0.9, 0.4, 0.1])
    on_pairs.outcome(JOB)
    for changed, settings in (
        (on_pairs, replace(SETTINGS, seed=2)),
        (on_pairs, replace(SETTINGS, encoder=replace(ENCODER, dim=5))),
        (replace(on_pairs, train=other), SETTINGS),
        (replace(on_pairs, valid=TEST), SETTINGS),
        (replace(on_pairs, tests={}), SETTINGS),
        (replace(on_pairs, track=None), SETTINGS),
    ):
        changed.outcome(Job("toy", settings))
    assert len(list(on_pairs.kept.iterdir())) == 1 + 6
