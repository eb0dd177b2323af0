"""Networks on pairs: their settings, what is kept, and by what it is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.networks import pair_networks
from benchmarks.networks.pair_networks import PairNetwork, PairNetworks
from benchmarks.networks.runner import Job, seeded, with_values
from models.encoders.word_average import WordAverageSettings
from models.losses.contrastive import ContrastiveSettings
from models.losses.margin import MarginSettings
from models.losses.regression import RegressionSettings
from models.training.loop import Look
from models.training.run import TrainSettings
from models.training.scored_pairs import ScoredPairs

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
VALID = ScoredPairs.of(["b", "c d"], ["a", "a b"], [0.8, 0.1])
TEST = ScoredPairs.of(["a", "b", "c"], ["d", "b a", "c"], [0.1, 0.6, 1.0])
JOB = Job("toy", SETTINGS)


@pytest.fixture
def networks(tmp_path: Path) -> PairNetworks:
    return PairNetworks(tmp_path, 1, TRAIN, VALID, {"test": TEST}, TEST)


def test_values_of_settings_and_of_their_parts() -> None:
    values = {"learning_rate": 0.2, "encoder.dim": 5, "loss.similarity": "cosine"}
    made = with_values(SETTINGS, values)
    assert (made.learning_rate, made.encoder.dim) == (0.2, 5)
    assert made == replace(
        SETTINGS,
        learning_rate=0.2,
        encoder=replace(SETTINGS.encoder, dim=5),
        loss=RegressionSettings("cosine"),
    )
    contrastive = ContrastiveSettings("hinge", 0.5, 1.0, 1.0, "pairs", 1)
    with pytest.raises(ValueError, match="margin"):
        with_values(replace(SETTINGS, loss=contrastive), {"loss.margin": 1.5})


def test_every_seed_of_every_system(networks: PairNetworks) -> None:
    made = seeded({"a": SETTINGS, "b": replace(SETTINGS, learning_rate=0.2)}, 2, networks)
    assert [(system, list(by_seed)) for system, by_seed in made.items()] == [
        ("a", [1, 2]),
        ("b", [1, 2]),
    ]
    answers = [network.answers["test"] for own in made.values() for network in own.values()]
    assert len({tuple(said) for said in answers}) == 4


def test_a_network_has_looks_tracked_scores_and_answers(
    networks: PairNetworks,
) -> None:
    """Three looks behind the one before training; the words of training are a, b, c, d."""
    made = networks.outcome(JOB)
    assert [look.step for look in made.looks] == [0, 2, 4, 6]
    assert len(made.tracked) == 4
    assert len(made.answers["test"]) == 3
    assert made.answers["test"][2] == 1  # equal strings are equally embedded


def test_tracked_pairs_change_no_weight(networks: PairNetworks) -> None:
    tracked, untracked = networks.outcome(JOB), replace(networks, track=None).outcome(JOB)
    assert tracked.answers == untracked.answers
    assert tracked.looks[1:] == untracked.looks[1:]  # the first has a loss that is no number
    assert untracked.tracked == []


def test_the_best_look_answers(networks: PairNetworks, monkeypatch: pytest.MonkeyPatch) -> None:
    """A score that falls after the second look: the answers are those of training until there."""
    made = []
    for steps, numbers in ((6, [0.1, 0.5, 0.4, 0.3]), (2, [0.1, 0.5])):
        scores = iter(numbers)
        monkeypatch.setattr(pair_networks.ScoredRun, "valid_score", lambda _, s=scores: next(s))
        made.append(networks.outcome(Job("", replace(SETTINGS, max_steps=steps))))
    assert [len(network.looks) for network in made] == [4, 2]
    assert made[0].answers == made[1].answers


def test_a_kept_outcome_is_not_made_again(
    networks: PairNetworks, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = networks.outcome(JOB)
    monkeypatch.setattr(PairNetworks, "_trained", lambda _, job: pytest.fail(f"trained {job}"))
    again = networks.outcome(Job("another name", SETTINGS))
    assert again.answers == first.answers
    np.testing.assert_array_equal(again.looks, first.looks)


def test_all_that_an_outcome_depends_on_names_it(
    networks: PairNetworks, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = PairNetwork([Look(0, 0, 0, 0, 0.5)], {}, [])
    monkeypatch.setattr(PairNetworks, "_trained", lambda *_: kept)
    other = ScoredPairs.of(["a b", "c", "a"], ["a", "d", "c d"], [0.9, 0.4, 0.1])
    networks.outcome(JOB)
    for changed, settings in (
        (networks, replace(SETTINGS, seed=2)),
        (networks, replace(SETTINGS, encoder=replace(SETTINGS.encoder, dim=5))),
        (replace(networks, train=other), SETTINGS),
        (replace(networks, valid=TEST), SETTINGS),
        (replace(networks, tests={}), SETTINGS),
    ):
        changed.outcome(Job("toy", settings))
    assert len(list(networks.kept.iterdir())) == 1 + 5


def test_paraphrases_are_trained_with_negatives_of_the_batch(tmp_path: Path) -> None:
    settings = replace(SETTINGS, loss=MarginSettings(0.4, "max"))
    links = ScoredPairs.of(["a", "c", "e"], ["b", "d", "f"])
    valid = ScoredPairs.of(["a", "c"], ["d", "b"])
    made = PairNetworks(tmp_path, 1, links, valid, {"test": TEST}).outcome(Job("links", settings))
    assert all(0 <= look.valid_score <= 1 for look in made.looks)
    assert made.answers["test"][2] == pytest.approx(1)


@pytest.mark.slow
def test_processes_change_no_figure(networks: PairNetworks) -> None:
    jobs = [Job("", replace(SETTINGS, seed=seed)) for seed in (1, 2)]
    other = replace(networks, kept=networks.kept / "two", processes=2)
    alone, together = networks.outcomes(jobs), other.outcomes(jobs)
    assert [network.answers for network in alone] == [network.answers for network in together]
    assert alone[0].answers != alone[1].answers
