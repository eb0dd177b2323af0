"""The training loop: it learns, stops, resumes bit by bit, and keeps one rule for ties."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch

from models.encoders.ngram_bag import NgramBagSettings
from models.losses.contrastive import contrastive_loss
from models.network.embedding import embed_rows
from models.network.kinds import fit_featurizer
from models.network.loss import Loss
from models.text.featurizer import Featurizer
from models.training.batches import Pairs
from models.training.checkpoints import Checkpoints, run_key
from models.training.loop import Trained, train
from models.training.run import TrainSettings, describe, learning_rate
from models.training.strings import Strings
from models.training.title_run import TitleRun

CPU = torch.device("cpu")
BAG = NgramBagSettings(
    orders=(2, 3),
    max_length=9,
    min_count=1,
    most=0,
    buckets=0,
    activation="linear",
    bias=False,
    dim=5,
    within="word",
)
Build = Callable[..., TrainSettings]
Toy = tuple[Strings, Pairs, Featurizer]


def run(
    toy: Toy, settings: TrainSettings, folder: Path, say: Callable[[str], None] = len
) -> Trained:
    saved = Checkpoints(folder, run_key(describe(settings), []))
    return train(TitleRun(*toy, settings, CPU), saved, say)


def assert_same(one: Trained, other: Trained) -> None:
    assert repr(one.history) == repr(other.history)  # NaN equals itself here
    for ours, theirs in ((one.weights, other.weights), (one.initial, other.initial)):
        assert ours.keys() == theirs.keys()
        assert all(torch.equal(ours[name], theirs[name]) for name in ours)


class Killed(BaseException):
    """What a kill looks like from inside: nothing catches it."""


def kill(line: str) -> NoReturn:
    raise Killed


@pytest.mark.thorough
@pytest.mark.parametrize("negatives", ["pairs", "batch", "hardest"])
def test_it_learns(tmp_path: Path, toy: Toy, train_settings: Build, negatives: str) -> None:
    """Titles that share a word: success@1 rises with any choice of negatives, losses are finite."""
    loss = replace(train_settings().loss, negatives=negatives)
    settings = train_settings(loss=loss, max_steps=60, evaluate_every=20)
    trained = run(toy, settings, tmp_path)
    assert [look.step for look in trained.history] == [0, 20, 40, 60]
    assert all(math.isnan(value) for value in trained.history[0][1:4])
    assert all(math.isfinite(value) for look in trained.history[1:] for value in look)
    for look in trained.history[1:]:
        assert look.loss == pytest.approx(look.loss_similar + look.loss_dissimilar, abs=3e-6)
    best = max(look.valid_score for look in trained.history)
    assert best >= trained.history[0].valid_score + 0.3
    assert trained.history[-1].loss < trained.history[1].loss


@pytest.mark.thorough
def test_the_best_weights_are_kept(tmp_path: Path, toy: Toy, train_settings: Build) -> None:
    settings = train_settings(max_steps=40, evaluate_every=10)
    trained = run(toy, settings, tmp_path)
    judge = TitleRun(*toy, settings, CPU)
    assert all(torch.equal(judge.weights()[k], v) for k, v in trained.initial.items())
    assert judge.valid_score() == pytest.approx(trained.history[0][-1], abs=1e-6)
    judge.encoder.load_state_dict(trained.weights)
    best = max(look.valid_score for look in trained.history)
    assert judge.valid_score() == pytest.approx(best, abs=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("negatives", ["pairs", "hardest"])
@pytest.mark.parametrize("kills", [1, 3])
def test_a_killed_run_goes_on_to_the_same_bits(
    tmp_path: Path, toy: Toy, train_settings: Build, negatives: str, kills: int
) -> None:
    loss = replace(train_settings().loss, negatives=negatives)
    settings = train_settings(loss=loss, max_steps=10, batch_pairs=16)
    whole = run(toy, settings, tmp_path / "whole")
    lines: list[str] = []

    def kill_after_a_look(line: str) -> None:
        lines.append(line)
        if "loss" in line:  # of a look, not of the progress towards it
            raise Killed

    for _ in range(kills):
        with pytest.raises(Killed):
            run(toy, settings, tmp_path / "killed", kill_after_a_look)
    assert_same(whole, run(toy, settings, tmp_path / "killed", lines.append))
    assert f"resumed at step {2 * kills}" in lines


def test_sparse_updates_learn_and_resume_to_the_same_bits(
    tmp_path: Path, toy: Toy, train_settings: Build
) -> None:
    strings, pairs, _ = toy
    featurizer = fit_featurizer([strings.titles[row] for row in strings.aliases], BAG)
    bagged = strings, pairs, featurizer
    settings = train_settings(encoder=BAG, sparse_updates=True)
    whole = run(bagged, settings, tmp_path / "whole")
    assert whole.history[-1].loss < whole.history[1].loss
    with pytest.raises(Killed):
        run(bagged, settings, tmp_path / "killed", kill)
    assert_same(whole, run(bagged, settings, tmp_path / "killed"))


def test_sparse_updates_need_one_table_and_no_l2(toy: Toy, train_settings: Build) -> None:
    with pytest.raises(ValueError, match=r"more than one table of rows: set train\.sparse_updates"):
        TitleRun(*toy, train_settings(sparse_updates=True), CPU)
    with pytest.raises(ValueError, match=r"l2 = 0\.1 changes every row"):
        train_settings(encoder=BAG, sparse_updates=True, l2=0.1)


@pytest.mark.thorough
def test_a_changed_setting_does_not_resume(tmp_path: Path, toy: Toy, train_settings: Build) -> None:
    with pytest.raises(Killed):
        run(toy, train_settings(), tmp_path, kill)
    changed, lines = train_settings(learning_rate=0.02), list[str]()
    begun_anew = run(toy, changed, tmp_path, lines.append)
    assert not any("resumed" in line for line in lines)
    assert_same(begun_anew, run(toy, changed, tmp_path / "fresh"))


def test_no_steps(tmp_path: Path, toy: Toy, train_settings: Build) -> None:
    trained = run(toy, train_settings(max_steps=0), tmp_path)
    assert [look.step for look in trained.history] == [0]
    assert all(torch.equal(trained.initial[k], v) for k, v in trained.weights.items())


def test_patience(tmp_path: Path, toy: Toy, train_settings: Build) -> None:
    """A learning rate too small to move anything: two looks without a better one, then the end."""
    settings = train_settings(learning_rate=1e-30, max_steps=20, patience=2)
    assert [look.step for look in run(toy, settings, tmp_path).history] == [0, 2, 4]


def test_without_validation_queries_the_last_weights_are_kept(
    tmp_path: Path, toy: Toy, train_settings: Build
) -> None:
    blind = (replace(toy[0], valid=toy[0].valid[:0]), *toy[1:])
    trained = run(blind, train_settings(patience=1), tmp_path)
    assert [look.step for look in trained.history] == [0, 2, 4, 6]
    assert any(not torch.equal(trained.initial[k], v) for k, v in trained.weights.items())


def test_a_loss_that_is_not_finite(tmp_path: Path, toy: Toy, train_settings: Build) -> None:
    with pytest.raises(FloatingPointError, match="lower learning_rate"):
        run(toy, train_settings(learning_rate=math.inf), tmp_path)


def test_one_number_of_threads_gives_one_result(
    tmp_path: Path, toy: Toy, train_settings: Build
) -> None:
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


def test_sums_have_one_order_while_it_trains(
    tmp_path: Path, toy: Toy, train_settings: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_valid_success_equals_the_loop(toy: Toy, train_settings: Build) -> None:
    """Take each query's closest alias: the index sorts the titles, which are not in that order."""
    strings = toy[0]
    judge = TitleRun(*toy, train_settings(), CPU)
    aliases = embed_rows(judge.encoder, judge.strings, strings.aliases)
    hits = []
    for query in strings.valid.tolist():
        near = aliases @ embed_rows(judge.encoder, judge.strings, torch.tensor([query]))[0]
        closest = strings.aliases[near.argmax()]
        hits.append(torch.equal(strings.occupations[closest], strings.occupations[query]))
    assert 0 < sum(hits) < len(hits)
    assert judge.valid_score() == pytest.approx(sum(hits) / len(hits))


def test_valid_success_counts_ties_by_expectation(toy: Toy, train_settings: Build) -> None:
    """All strings alike: every occupation ties, so success@1 is gold / occupations of the index.

    Queries: one of occupation 0 (1/6), one of 0 and 1 (2/6), one of 1 and of an occupation that no
    alias has (1/6), one of the latter alone (a miss): (1/6 + 2/6 + 1/6 + 0) / 4 = 1/6.
    """
    strings, pairs, featurizer = toy
    aliases = strings.occupations[strings.aliases]
    gold = torch.tensor([[0, -1], [0, 1], [1, 7], [7, -1]])
    codes = torch.cat([torch.cat([aliases, torch.full_like(aliases, -1)], 1), gold])
    alike = Strings(
        ["same"] * len(codes), codes, strings.aliases, torch.arange(len(aliases), len(codes))
    )
    judge = TitleRun(alike, pairs, featurizer, train_settings(), CPU)
    assert judge.valid_score() == pytest.approx(1 / 6)


def test_a_title_of_two_occupations_is_half_a_hit(toy: Toy, train_settings: Build) -> None:
    """The query equals an alias of occupations 0 and 1 and is of 0: either may come first."""
    _, pairs, featurizer = toy
    codes = torch.tensor([[0, 1], [2, -1], [0, -1]])
    both = Strings(["tutor", "zzzz", "tutor"], codes, torch.tensor([0, 1]), torch.tensor([2]))
    judge = TitleRun(both, pairs, featurizer, train_settings(), CPU)
    assert judge.valid_score() == 0.5


@pytest.fixture
def judged(toy: Toy, encoder_settings: Callable[..., Any]) -> Toy:
    """The toy and "bakers", of unknown occupation, which people rejected for "baker", the first."""
    strings, pairs, _ = toy
    codes = torch.cat([strings.occupations, torch.tensor([[-1]])])
    more = replace(strings, titles=[*strings.titles, "bakers"], occupations=codes)
    rejected = torch.tensor([[0, len(strings.titles)]], dtype=torch.int32)
    return (
        more,
        replace(pairs, dissimilar=rejected),
        fit_featurizer(more.titles, encoder_settings()),
    )


def similarity_after(steps: int, toy: Toy, settings: TrainSettings) -> float:
    """Of the first and the last string."""
    trained = TitleRun(*toy, settings, CPU)
    for step in range(steps):
        trained.step(step)
    rows = torch.tensor([0, len(toy[0].titles) - 1])
    one, other = embed_rows(trained.encoder, trained.strings, rows)
    return float(one @ other)


@pytest.mark.thorough
@pytest.mark.parametrize("negatives", ["pairs", "batch", "hardest"])
def test_a_rejected_pair_is_pushed_apart(
    toy: Toy, judged: Toy, train_settings: Build, negatives: str
) -> None:
    """Only the rejection can part the two: "bakers" stays beside "baker" without it."""
    settings = train_settings(loss=replace(train_settings().loss, negatives=negatives))
    strings, pairs, featurizer = judged
    negative_mask = toy[1].dissimilar if negatives == "pairs" else pairs.dissimilar[:0]
    unheard = (strings, replace(pairs, dissimilar=negative_mask), featurizer)
    rejected = similarity_after(60, judged, settings)
    assert rejected < similarity_after(0, judged, settings) - 0.3
    assert rejected < similarity_after(60, unheard, settings) - 0.3


@pytest.mark.parametrize("negatives", ["batch", "hardest"])
def test_a_string_of_unknown_occupation_is_no_other_ones_negative(
    judged: Toy, train_settings: Build, negatives: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The masks of a step over all pairs: rows are all aliases and, last, the judged string."""
    seen: list[torch.Tensor] = []

    def watched(similarity: torch.Tensor, *masks: Any) -> Loss:
        seen.extend(mask.clone() for mask in masks[:2])
        return contrastive_loss(similarity, *masks)

    monkeypatch.setattr("models.losses.contrastive.contrastive_loss", watched)
    loss = replace(train_settings().loss, negatives=negatives, hardest=3)
    TitleRun(*judged, train_settings(loss=loss, batch_pairs=999), CPU).step(0)
    similar, dissimilar = seen
    count = len(judged[0].aliases)
    codes = judged[0].occupations[:count, 0]
    assert similar.shape == (count + 1, count + 1)
    assert not similar[count].any() and not similar[:, count].any()
    assert torch.nonzero(dissimilar[:, count]).tolist() == [[0]]  # the rejection
    assert torch.nonzero(dissimilar[count]).tolist() == [[0]]
    negative_mask = codes[:, None] != codes[None, :]
    if negatives == "batch":
        assert torch.equal(dissimilar[:count, :count], negative_mask)
    else:
        assert not (dissimilar[:count, :count] & ~negative_mask).any()
        assert dissimilar[:count, :count].sum(1).tolist() == [3] * count


def test_the_learning_rate_falls_linearly_to_zero(train_settings: Build) -> None:
    """Four steps at 0.1: 0.1, 0.075, 0.05, 0.025; a fifth would have none."""
    linear = train_settings(learning_rate=0.1, schedule="linear", max_steps=4)
    assert [learning_rate(linear, step) for step in range(5)] == pytest.approx(
        [0.1, 0.075, 0.05, 0.025, 0.0]
    )
    constant = train_settings(learning_rate=0.1, schedule="constant", max_steps=4)
    assert {learning_rate(constant, step) for step in range(5)} == {0.1}


@pytest.mark.thorough
def test_the_schedule_reaches_the_optimizer(
    tmp_path: Path, toy: Toy, train_settings: Build
) -> None:
    """Other weights than with a constant rate, from the same start."""
    runs = [
        run(toy, train_settings(schedule=schedule, max_steps=20), tmp_path / schedule)
        for schedule in ("constant", "linear")
    ]
    one, other = runs
    assert all(torch.equal(one.initial[name], other.initial[name]) for name in one.initial)
    assert any(not torch.equal(one.weights[name], other.weights[name]) for name in one.weights)


def moved(toy: Toy, settings: TrainSettings, steps: int = 20) -> torch.Tensor:
    """Return how far each string moves, squared, at unit norm, in a training that goes on."""
    strings, pairs, _ = toy
    judged = torch.zeros(len(pairs.similar), dtype=torch.bool)
    judged[0] = True
    start = TitleRun(*toy, replace(settings, seed=7), CPU).weights()
    parts = strings, replace(pairs, judged=judged), toy[2], settings, CPU
    continued = TitleRun(*parts, before=start)
    rows = torch.arange(len(strings.titles))
    before = embed_rows(continued.encoder, continued.strings, rows)
    assert continued.drift(rows, before) == pytest.approx(0, abs=1e-9)
    for step in range(steps):
        continued.step(step)
    after = embed_rows(continued.encoder, continued.strings, rows)
    distances = (after - before).square().sum(1)
    others = rows != pairs.similar[0, 1]
    assert continued.drift(rows, after) == pytest.approx(float(distances[others].mean()), rel=1e-4)
    return distances


def test_strings_that_nobody_judged_are_held(toy: Toy, train_settings: Build) -> None:
    free, held = (
        moved(toy, train_settings(judged_share=0.5, held_weight=weight)) for weight in (0, 100)
    )
    assert held.mean() < free.mean() / 2
