"""Trials and networks on pairs: what is chosen, what is kept, and by what; figures of answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import pair_networks
from benchmarks.grids import Grid, beyond, widened
from benchmarks.pair_networks import PairNetwork, PairNetworks
from benchmarks.tuning import TRIALS, Job, seeded, tuned
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


class Scored(PairNetworks):
    """Gives a job the score that its learning rate is."""

    def outcome(self, job: Job) -> PairNetwork:
        looks = [Look(0, 0, 0, 0, -1.0), Look(1, 0, 0, 0, job.settings.learning_rate)]
        return PairNetwork([*looks, Look(2, 0, 0, 0, -2.0)], {}, [], 0)


def grid(system: str, *rates: float | str) -> Grid:
    return Grid(system, SETTINGS, {"learning_rate": rates})


class Peaked(Scored):
    """Likes the learning rate 0.25."""

    def outcome(self, job: Job) -> PairNetwork:
        score = -abs(job.settings.learning_rate - 0.25)
        return PairNetwork([Look(1, 0, 0, 0, score)], {}, [], 0)


def test_the_best_look_of_a_trial_counts_and_the_first_of_equals_is_chosen(tmp_path: Path) -> None:
    """Sizes are not widened, whichever end is taken."""
    axes = {"encoder.dim": [3, 5], "learning_rate": [0.2]}
    grids = [Grid("a", SETTINGS, axes), Grid("b", replace(SETTINGS, l2=0.1), axes)]
    chosen = tuned(grids, Scored(tmp_path, 1, TRAIN, VALID), "valid_pearson")
    assert chosen.settings == {one.system: next(one.trials()).settings for one in grids}
    said = {(row.system, row.test, row.metric): row.value for row in chosen.rows}
    for system in "ab":
        for dim in (3, 5):
            own = said, (system, f"trial:dim={dim},learning_rate=0.2")
            of_it = {metric: said[*own[1], metric] for metric in ("valid_pearson", "best_step")}
            assert of_it == {"valid_pearson": 0.2, "best_step": 1}
            assert said[*own[1], "chosen"] == float(dim == 3)
    assert {(row.n, row.seed) for row in chosen.rows} == {(2, 1)}


def test_every_system_has_as_many_trials_and_not_too_many(tmp_path: Path) -> None:
    runner, rates = Scored(tmp_path, 1, TRAIN, VALID), [k / 10 for k in range(1, TRIALS + 2)]
    with pytest.raises(ValueError, match=r"'a': 7}; give every system as many, at most 6"):
        tuned([grid("a", *rates)], runner, "m")
    with pytest.raises(ValueError, match="as many"):
        tuned([grid("a", 0.1, 0.2), grid("b", 0.1)], runner, "m")


def test_a_grid_is_widened_for_all_until_no_best_lies_at_an_end(tmp_path: Path) -> None:
    """Beyond 0.2 lies 0.4, which is worse: 0.2 is an end no more."""
    chosen = tuned([grid("a", 0.1, 0.2)], Peaked(tmp_path, 1, TRAIN, VALID), "m")
    tried = {row.test for row in chosen.rows}
    assert tried == {f"trial:learning_rate={rate}" for rate in (0.1, 0.2, 0.4)}
    assert chosen.settings["a"].learning_rate == 0.2


def test_a_grid_is_widened_three_times_at_most(tmp_path: Path) -> None:
    chosen = tuned([grid("a", 0.1, 0.2)], Scored(tmp_path, 1, TRAIN, VALID), "m")
    assert chosen.settings["a"].learning_rate == 1.6


def test_what_lies_beyond_an_end() -> None:
    assert list(beyond([0.1, 0.2, 0.5], 0.5)) == [1.25]
    assert list(beyond([0.001, 0.003, 0.01], 0.001)) == [0.000333]
    assert list(beyond([0.0, 0.02, 0.1], 0.0)) == []  # nothing lies below
    assert list(beyond([0.1, 0.2, 0.5], 0.2)) == []
    for sizes in ([50, 300], ["max", "mix"], [0.1]):
        assert list(beyond(sizes, sizes[0])) == []


def test_grids_that_share_an_axis_share_what_it_gains_unless_one_refuses_it() -> None:
    """A margin above 1 is refused: no system gets it. Of other values it is another axis."""

    def margins(system: str, *values: float) -> Grid:
        loss = ContrastiveSettings("hinge", 0.5, 1.0, 1.0, "pairs", 1)
        return Grid(system, replace(SETTINGS, loss=loss), {"loss.margin": values})

    grids = [margins("a", 0.2, 0.4), margins("b", 0.2, 0.4), margins("c", 0.4, 0.8)]
    best = {one.system: list(one.trials())[-1] for one in grids}
    best["b"] = next(grids[1].trials())
    wider = [list(one.axes["loss.margin"]) for one in widened(grids, best)]
    assert wider == [[0.1, 0.2, 0.4, 0.8], [0.1, 0.2, 0.4, 0.8], [0.4, 0.8]]


def test_a_grid_has_every_combination() -> None:
    axes = {"learning_rate": [0.1, 0.2], "encoder.dim": [3, 5], "loss.similarity": ["cosine"]}
    made = list(Grid("s", SETTINGS, axes).trials())
    assert [one.name for one in made] == [
        f"learning_rate={rate},dim={dim},similarity=cosine" for rate in (0.1, 0.2) for dim in (3, 5)
    ]
    assert made[-1].values == (0.2, 5, "cosine")
    last = made[-1].settings
    assert (last.learning_rate, last.encoder.dim, last.loss.similarity) == (0.2, 5, "cosine")
    assert (
        replace(last, learning_rate=0.1, encoder=SETTINGS.encoder, loss=SETTINGS.loss) == SETTINGS
    )


def test_every_seed_of_every_system(networks: PairNetworks) -> None:
    made = seeded({"a": SETTINGS, "b": replace(SETTINGS, learning_rate=0.2)}, 2, networks)
    assert [(system, list(by_seed)) for system, by_seed in made.items()] == [
        ("a", [1, 2]),
        ("b", [1, 2]),
    ]
    answers = [network.answers["test"] for own in made.values() for network in own.values()]
    assert len({tuple(said) for said in answers}) == 4


def test_a_network_has_a_look_a_watch_and_an_answer_for_each_pair(networks: PairNetworks) -> None:
    """Three looks behind the one before training; the words of training are a, b, c, d."""
    made = networks.outcome(JOB)
    assert [look.step for look in made.looks] == [0, 2, 4, 6]
    assert len(made.watched) == 4
    assert len(made.answers["test"]) == 3
    assert made.answers["test"][2] == 1  # equal strings are equally embedded
    assert made.units == 4 + 2
    assert made.valid_score == max(look.valid_score for look in made.looks)


def test_what_is_watched_changes_no_weight(networks: PairNetworks) -> None:
    watched, unwatched = networks.outcome(JOB), replace(networks, watch=None).outcome(JOB)
    assert watched.answers == unwatched.answers
    assert watched.looks[1:] == unwatched.looks[1:]  # the first has a loss that is no number
    assert unwatched.watched == []


def test_the_best_look_answers(networks: PairNetworks, monkeypatch: pytest.MonkeyPatch) -> None:
    """A score that falls after the second look: the answers are those of training until there."""
    made = []
    for steps, numbers in ((6, [0.1, 0.5, 0.4, 0.3]), (2, [0.1, 0.5])):
        scores = iter(numbers)
        monkeypatch.setattr(pair_networks.ScoredRun, "valid_score", lambda _, s=scores: next(s))
        made.append(networks.outcome(Job("", replace(SETTINGS, max_steps=steps))))
    assert [len(network.looks) for network in made] == [4, 2]
    assert made[0].valid_score == made[1].valid_score == 0.5
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
    kept = PairNetwork([Look(0, 0, 0, 0, 0.5)], {}, [], 0)
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
