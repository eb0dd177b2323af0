"""Networks of studies: trained once, resumed, kept, and named by all that they depend on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import networks as title_networks
from benchmarks import pair_networks
from benchmarks.networks import Job, TitleNetworks, bounded, seeded, training_code, with_values
from benchmarks.pair_networks import PairNetwork, PairNetworks
from benchmarks.workspace import VALID, Workspace
from models.encoders.word_average import WordAverageSettings
from models.losses.contrastive import ContrastiveSettings
from models.losses.margin import MarginSettings
from models.losses.regression import RegressionSettings
from models.training.checkpoints import Checkpoints
from models.training.loop import Look, TrainSettings, train
from models.training.scored_run import ScoredPairs
from tasks.check_params import AllParams
from tasks.pipeline.train import training_settings

SETTINGS = TrainSettings(
    seed=1,
    encoder=WordAverageSettings(max_length=9, min_count=1, dim=4),
    loss=RegressionSettings("exp_manhattan"),
    batch_pairs=2,
    learning_rate=0.1,
    schedule="constant",
    l2=0.0,
    clip_norm=1.0,
    max_steps=6,
    evaluate_every=2,
    patience=9,
)
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


def test_values_of_settings_and_of_their_parts() -> None:
    values = {"learning_rate": 0.2, "encoder.dim": 5, "loss.similarity": "cosine"}
    assert with_values(SETTINGS, values) == replace(
        SETTINGS,
        learning_rate=0.2,
        encoder=replace(SETTINGS.encoder, dim=5),
        loss=RegressionSettings("cosine"),
    )
    contrastive = ContrastiveSettings("hinge", 0.5, 1.0, 1.0, "pairs", 1)
    with pytest.raises(ValueError, match="margin"):
        with_values(replace(SETTINGS, loss=contrastive), {"loss.margin": 1.5})


def test_an_exam_has_every_test_and_the_validation_queries(workspace: Path) -> None:
    exam = Workspace.read("sample").exam()
    assert exam.queries.filter(test=VALID).height == 10
    assert exam.queries.height == 5 * 5 + 10


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


def test_a_killed_network_continues_to_the_same_weights(
    params: AllParams, on_titles: TitleNetworks, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = bounded(training_settings(params.network, 1), 8, 1)
    first = on_titles.outcome(Job("whole", settings))
    other = replace(on_titles, kept=on_titles.kept / "other")

    class Killed(Exception):
        pass

    def kill(line: str) -> None:
        if "step 4/" in line:
            raise Killed

    with pytest.raises(Killed):
        train(other.started(settings)[0], Checkpoints(other.kept, first.folder.name), kill)
    capsys.readouterr()
    resumed = other.outcome(Job("resumed", settings))
    assert first.seconds is not None and first.seconds > 0
    assert resumed.seconds is None, "a part of a training is no time of it"
    assert "resumed at step 4" in capsys.readouterr().out
    weights = [(own.folder / "weights.safetensors").read_bytes() for own in (first, resumed)]
    assert weights[0] == weights[1]


def test_missing_pairs_say_what_to_run(params: AllParams, tmp_path: Path) -> None:
    job = Job("", training_settings(params.network, 1))
    with pytest.raises(FileNotFoundError, match="make reproduce"):
        TitleNetworks(tmp_path, 1, tmp_path).outcome(job)


def test_every_seed_of_every_system(on_pairs: PairNetworks) -> None:
    made = seeded({"a": SETTINGS, "b": replace(SETTINGS, learning_rate=0.2)}, 2, on_pairs)
    assert {system: list(by_seed) for system, by_seed in made.items()} == {"a": [1, 2], "b": [1, 2]}
    answers = [network.answers["test"] for own in made.values() for network in own.values()]
    assert len({tuple(own) for own in answers}) == 4


def test_a_network_on_pairs_has_looks_tracked_scores_and_answers(on_pairs: PairNetworks) -> None:
    """Three looks behind the one before training; equal strings are equally embedded."""
    made = on_pairs.outcome(JOB)
    assert [look.step for look in made.looks] == [0, 2, 4, 6]
    assert len(made.tracked) == 4
    assert len(made.answers["test"]) == 3
    assert made.answers["test"][2] == 1


def test_tracked_pairs_change_no_weight(on_pairs: PairNetworks) -> None:
    tracked, untracked = on_pairs.outcome(JOB), replace(on_pairs, track=None).outcome(JOB)
    assert tracked.answers == untracked.answers
    assert tracked.looks[1:] == untracked.looks[1:]  # the first has a loss that is no number
    assert untracked.tracked == []


def test_the_best_look_answers(on_pairs: PairNetworks, monkeypatch: pytest.MonkeyPatch) -> None:
    """A score that falls after the second look: the answers are those of training until there."""
    made = []
    for steps, numbers in ((6, [0.1, 0.5, 0.4, 0.3]), (2, [0.1, 0.5])):
        scores = iter(numbers)
        monkeypatch.setattr(pair_networks.ScoredRun, "valid_score", lambda _, s=scores: next(s))
        made.append(on_pairs.outcome(Job("", replace(SETTINGS, max_steps=steps))))
    assert [len(network.looks) for network in made] == [4, 2]
    assert made[0].answers == made[1].answers


def test_a_kept_outcome_is_not_made_again(
    on_pairs: PairNetworks, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = on_pairs.outcome(JOB)
    monkeypatch.setattr(PairNetworks, "_trained", lambda _, job: pytest.fail(f"trained {job}"))
    again = on_pairs.outcome(Job("another name", SETTINGS))
    assert again.answers == first.answers
    np.testing.assert_array_equal(again.looks, first.looks)


def test_all_that_an_outcome_depends_on_names_it(
    on_pairs: PairNetworks, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = PairNetwork([Look(0, 0, 0, 0, 0.5)], {}, [])
    monkeypatch.setattr(PairNetworks, "_trained", lambda *_: kept)
    other = ScoredPairs.of(["a b", "c", "a"], ["a", "d", "c d"], [0.9, 0.4, 0.1])
    on_pairs.outcome(JOB)
    for changed, settings in (
        (on_pairs, replace(SETTINGS, seed=2)),
        (on_pairs, replace(SETTINGS, encoder=replace(SETTINGS.encoder, dim=5))),
        (replace(on_pairs, train=other), SETTINGS),
        (replace(on_pairs, valid=TEST), SETTINGS),
        (replace(on_pairs, tests={}), SETTINGS),
        (replace(on_pairs, track=None), SETTINGS),
    ):
        changed.outcome(Job("toy", settings))
    assert len(list(on_pairs.kept.iterdir())) == 1 + 6


def test_paraphrases_are_trained_with_negatives_of_the_batch(tmp_path: Path) -> None:
    settings = replace(SETTINGS, loss=MarginSettings(0.4, "max"))
    links = ScoredPairs.of(["a", "c", "e"], ["b", "d", "f"])
    valid = ScoredPairs.of(["a", "c"], ["d", "b"])
    made = PairNetworks(tmp_path, 1, links, valid, {"test": TEST}).outcome(Job("links", settings))
    assert all(0 <= look.valid_score <= 1 for look in made.looks)
    assert made.answers["test"][2] == pytest.approx(1)


@pytest.mark.slow
def test_processes_change_no_figure(on_pairs: PairNetworks) -> None:
    jobs = [Job("", replace(SETTINGS, seed=seed)) for seed in (1, 2)]
    other = replace(on_pairs, kept=on_pairs.kept / "two", processes=2)
    alone, together = on_pairs.outcomes(jobs), other.outcomes(jobs)
    assert [network.answers for network in alone] == [network.answers for network in together]
    assert alone[0].answers != alone[1].answers
