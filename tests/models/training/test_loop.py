"""The training loop: it learns, stops, resumes bit by bit, and sums in one order."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from training_checks import CPU, Build, Toy, assert_same, check_kills, differ, trained

from models.encoders.ngram_bag import NgramBagSettings
from models.network.kinds import fit_featurizer
from models.network.loss import Loss
from models.training.loop import Trained, TrainSettings, learning_rate
from models.training.title_run import TitleRun

BAG = NgramBagSettings((2, 3), 9, 1, 0, 0, "linear", False, 5, "word")


def run(
    toy: Toy, settings: TrainSettings, folder: Path, say: Callable[[str], object] = len
) -> Trained:
    return trained(TitleRun(*toy, settings, CPU), folder, say)


@pytest.mark.thorough
@pytest.mark.parametrize("negatives", ["pairs", "batch", "hardest"])
def test_it_learns_and_keeps_the_best_weights(tmp_path, toy, train_settings, negatives) -> None:
    """Titles that share a word: success@1 rises with any choice of negatives, losses are finite."""
    loss = replace(train_settings().loss, negatives=negatives)
    settings = train_settings(loss=loss, max_steps=60, evaluate_every=20)
    result = run(toy, settings, tmp_path)
    first, *later = result.history
    assert [look.step for look in result.history] == [0, 20, 40, 60]
    assert all(math.isnan(value) for value in first[1:4])
    assert all(math.isfinite(value) for look in later for value in look)
    for look in later:
        assert look.loss == pytest.approx(look.loss_similar + look.loss_dissimilar, abs=3e-6)
    assert later[-1].loss < later[0].loss
    best = max(look.valid_score for look in later)
    assert best >= first.valid_score + 0.3
    judge = TitleRun(*toy, settings, CPU)
    assert not differ(judge.weights(), result.initial)
    assert judge.valid_score() == pytest.approx(first.valid_score, abs=1e-6)
    judge.encoder.load_state_dict(result.weights)
    assert judge.valid_score() == pytest.approx(best, abs=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("negatives", ["pairs", "hardest"])
@pytest.mark.parametrize("kills", [1, 3])
def test_a_killed_run_goes_on_to_the_same_bits(tmp_path, toy, train_settings, negatives, kills):
    loss = replace(train_settings().loss, negatives=negatives)
    settings = train_settings(loss=loss, max_steps=10, batch_pairs=16)
    check_kills(lambda: TitleRun(*toy, settings, CPU), tmp_path, kills)


def test_sparse_updates_learn_and_resume_to_the_same_bits(tmp_path, toy, train_settings) -> None:
    strings, pairs, _ = toy
    featurizer = fit_featurizer([strings.titles[row] for row in strings.aliases], BAG)
    settings = train_settings(encoder=BAG, sparse_updates=True)
    whole = check_kills(lambda: TitleRun(strings, pairs, featurizer, settings, CPU), tmp_path, 1)
    assert whole.history[-1].loss < whole.history[1].loss


def test_sparse_updates_need_one_table_and_no_l2(toy: Toy, train_settings: Build) -> None:
    with pytest.raises(ValueError, match=r"more than one table of rows: set train\.sparse_updates"):
        TitleRun(*toy, train_settings(sparse_updates=True), CPU)
    with pytest.raises(ValueError, match=r"l2 = 0\.1 changes every row"):
        train_settings(encoder=BAG, sparse_updates=True, l2=0.1)


@pytest.mark.parametrize(
    ("changes", "steps"),
    [
        ({"max_steps": 0}, [0]),
        # too small a rate to move anything: two looks without a better one, then the end
        ({"learning_rate": 1e-30, "max_steps": 20, "patience": 2}, [0, 2, 4]),
    ],
)
def test_where_it_ends(tmp_path, toy: Toy, train_settings: Build, changes, steps) -> None:
    result = run(toy, train_settings(**changes), tmp_path)
    assert [look.step for look in result.history] == steps
    assert not differ(result.initial, result.weights)


def test_without_validation_queries_the_last_weights_are_kept(tmp_path, toy, train_settings):
    blind = (replace(toy[0], valid=toy[0].valid[:0]), *toy[1:])
    result = run(blind, train_settings(patience=1), tmp_path)
    assert [look.step for look in result.history] == [0, 2, 4, 6]
    assert differ(result.initial, result.weights)


def test_a_loss_that_is_not_finite(tmp_path: Path, toy: Toy, train_settings: Build) -> None:
    with pytest.raises(FloatingPointError, match="lower learning_rate"):
        run(toy, train_settings(learning_rate=math.inf), tmp_path)


def test_one_number_of_threads_gives_one_result(tmp_path, toy, train_settings) -> None:
    """The same bits with the same number, which `params.yaml` pins; another number only rounds.

    Whether another number gives the same bits depends on the processor (docs/design/training.md).
    """
    threads = torch.get_num_threads()
    runs = {}
    try:
        for count, name in ((1, "one"), (2, "two"), (2, "two again")):
            torch.set_num_threads(count)
            runs[name] = run(toy, train_settings(max_steps=2), tmp_path / name)
    finally:
        torch.set_num_threads(threads)
    assert_same(runs["two"], runs["two again"])
    for name, weight in runs["one"].weights.items():
        assert torch.allclose(weight, runs["two"].weights[name], rtol=0, atol=1e-6)


def test_sums_have_one_order_while_it_trains(tmp_path, toy, train_settings, monkeypatch) -> None:
    """Else threads add up the gradients of rows that a large batch reads twice as they come."""
    seen: list[bool] = []
    step = TitleRun.step

    def watched(self: TitleRun, number: int) -> Loss:
        seen.append(torch.are_deterministic_algorithms_enabled())
        return step(self, number)

    monkeypatch.setattr(TitleRun, "step", watched)
    run(toy, train_settings(max_steps=2), tmp_path)
    assert seen == [True, True]
    assert not torch.are_deterministic_algorithms_enabled()


@pytest.mark.thorough
def test_the_learning_rate_falls_linearly_to_zero(tmp_path, toy, train_settings) -> None:
    """Four steps at 0.1: 0.1, 0.075, 0.05, 0.025; a fifth would have none. It moves the weights."""
    linear = train_settings(learning_rate=0.1, schedule="linear", max_steps=4)
    constant = replace(linear, schedule="constant")
    assert [learning_rate(linear, step) for step in range(5)] == pytest.approx(
        [0.1, 0.075, 0.05, 0.025, 0.0]
    )
    assert {learning_rate(constant, step) for step in range(5)} == {0.1}
    one, other = (run(toy, own, tmp_path / own.schedule) for own in (linear, constant))
    assert not differ(one.initial, other.initial)
    assert differ(one.weights, other.weights)
