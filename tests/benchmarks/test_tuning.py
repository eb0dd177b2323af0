"""Trials and networks of the studies of pairs: what is chosen, what is kept, and by what."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import tuning
from benchmarks.scored_sets import StringPairs
from benchmarks.tuning import TRIALS, Job, Outcome, Trial, best, outcome, outcomes, trial_rows
from models.encoders.word_average import WordAverageSettings
from models.losses.margin import MarginSettings
from models.losses.regression import RegressionSettings
from models.run import TrainSettings
from models.training import Look

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
TRAIN = StringPairs(["a b", "c", "a"], ["a", "d", "c d"], [0.9, 0.4, 0.0])
VALID = StringPairs(["b", "c d"], ["a", "a b"], [0.8, 0.1])
TEST = StringPairs(["a", "b", "c"], ["d", "b a", "c"], [0.1, 0.6, 1.0])
JOB = Job("toy", SETTINGS, TRAIN, VALID, {"test": TEST}, TEST)


def scored(*scores: float) -> Outcome:
    return Outcome([Look(step, 0, 0, 0, score) for step, score in enumerate(scores)], {}, [], 0)


def trial(system: str, name: str) -> Trial:
    return Trial(system, name, replace(SETTINGS, learning_rate=len(name)))


def test_the_best_look_of_a_trial_counts_and_the_first_of_equals_is_chosen() -> None:
    tried = [trial("a", "x"), trial("b", "x"), trial("a", "yy"), trial("a", "zzz")]
    found = [scored(0.1, 0.2), scored(-0.5), scored(0.7, 0.3), scored(0.7)]
    chosen = best(tried, found)
    assert {system: each.name for system, each in chosen.items()} == {"a": "yy", "b": "x"}


def test_no_system_has_more_trials_than_another_may() -> None:
    tried = [trial("a", "x" * k) for k in range(1, TRIALS + 2)]
    best(tried[:-1], [scored(0.1)] * TRIALS)
    with pytest.raises(ValueError, match="a has 7 trials"):
        best(tried, [scored(0.1)] * (TRIALS + 1))


def test_every_trial_is_logged() -> None:
    tried, found = [trial("a", "x"), trial("a", "yy")], [scored(0.2), scored(0.3)]
    rows = list(trial_rows(tried, found, "valid_pearson", 50))
    assert [(row["test"], row["metric"], row["value"]) for row in rows] == [
        ("trial:x", "valid_pearson", 0.2),
        ("trial:x", "chosen", 0.0),
        ("trial:yy", "valid_pearson", 0.3),
        ("trial:yy", "chosen", 1.0),
    ]
    assert {(row["system"], row["n"], row["seed"]) for row in rows} == {("a", 50, 1)}


def test_an_outcome_has_a_look_a_watch_and_an_answer_for_each_pair(tmp_path: Path) -> None:
    """Three looks behind the one before training; the words of training are a, b, c, d."""
    made = outcome(JOB, tmp_path)
    assert [look.step for look in made.looks] == [0, 2, 4, 6]
    assert len(made.watched) == 4
    assert len(made.answers["test"]) == 3
    assert made.answers["test"][2] == 1  # equal strings are equally embedded
    assert made.units == 4 + 2
    assert made.valid_score == max(look.valid_score for look in made.looks)


def test_what_is_watched_changes_no_weight(tmp_path: Path) -> None:
    watched, unwatched = outcome(JOB, tmp_path), outcome(replace(JOB, watched=None), tmp_path)
    assert watched.answers == unwatched.answers
    assert watched.looks[1:] == unwatched.looks[1:]  # the first has a loss that is no number
    assert unwatched.watched == []


def test_the_best_look_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A score that falls after the second look: the answers are those of training until there."""
    made = []
    for steps, given in ((6, [0.1, 0.5, 0.4, 0.3]), (2, [0.1, 0.5])):
        scores = iter(given)
        monkeypatch.setattr(tuning.ScoredRun, "valid_score", lambda run, each=scores: next(each))
        made.append(outcome(replace(JOB, settings=replace(SETTINGS, max_steps=steps)), tmp_path))
    assert [len(each.looks) for each in made] == [4, 2]
    assert made[0].valid_score == made[1].valid_score == 0.5
    assert made[0].answers == made[1].answers


def test_a_kept_outcome_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = outcome(JOB, tmp_path)
    monkeypatch.setattr(tuning, "_trained", lambda job: pytest.fail(f"trained {job.name} again"))
    again = outcome(replace(JOB, name="another name"), tmp_path)
    assert again.answers == first.answers
    np.testing.assert_array_equal(again.looks, first.looks)


@pytest.mark.parametrize(
    "changed",
    [
        replace(JOB, settings=replace(SETTINGS, seed=2)),
        replace(JOB, train=TRAIN._replace(scores=[0.9, 0.4, 0.1])),
        replace(JOB, valid=TEST),
        replace(JOB, asked={}),
        replace(JOB, settings=replace(SETTINGS, encoder=replace(SETTINGS.encoder, dim=5))),
    ],
)
def test_all_that_an_outcome_depends_on_names_it(
    changed: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "_trained", lambda job: scored(0.5))
    outcome(JOB, tmp_path)
    outcome(changed, tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


def test_paraphrases_are_trained_with_negatives_of_the_batch(tmp_path: Path) -> None:
    settings = replace(SETTINGS, loss=MarginSettings(0.4, "max"))
    links = StringPairs(["a", "c", "e"], ["b", "d", "f"])
    job = Job("links", settings, links, StringPairs(["a", "c"], ["d", "b"]), {"test": TEST})
    made = outcome(job, tmp_path)
    assert all(0 <= look.valid_score <= 1 for look in made.looks)
    assert made.answers["test"][2] == pytest.approx(1)


@pytest.mark.slow
def test_processes_change_no_figure(tmp_path: Path) -> None:
    jobs = [replace(JOB, settings=replace(SETTINGS, seed=seed)) for seed in (1, 2, 3)]
    alone, together = (outcomes(jobs, tmp_path / str(count), count) for count in (1, 2))
    assert [each.answers for each in alone] == [each.answers for each in together]
    assert alone[0].answers != alone[1].answers
