"""A run with a teacher: where words begin, what a step learns, and that a kill does not show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from teachers import BAG, TAUGHT, teacher_of

from models.network.kinds import fit_featurizer
from models.text.featurizer import FIRST, Featurizer
from models.training.batches import Pairs
from models.training.checkpoints import Checkpoints, run_key
from models.training.loop import Trained, train
from models.training.run import TrainSettings, describe
from models.training.strings import Strings
from models.training.teacher import Teacher, TeacherSettings, principal
from models.training.title_run import TitleRun

CPU = torch.device("cpu")
Toy = tuple[Strings, Pairs, Featurizer]
Start = Callable[..., TitleRun]


@pytest.fixture
def teacher(toy: Toy) -> Teacher:
    """Know all strings but the third alias, the validation queries' too."""
    titles = toy[0].titles
    known = [*titles[:2], *titles[3:]]
    return teacher_of(known, {titles[row] for row in toy[0].aliases.tolist()})


@pytest.fixture
def start(toy: Toy, teacher: Teacher, train_settings: Callable[..., TrainSettings]) -> Start:
    """Begin a run of a bag; keywords change how it is taught."""
    strings, pairs, _ = toy
    featurizer = fit_featurizer([strings.titles[row] for row in strings.aliases], BAG)

    def started(**changes: float) -> TitleRun:
        settings = train_settings(encoder=BAG, teacher=replace(TAUGHT, **changes))
        return TitleRun(strings, pairs, featurizer, settings, CPU, teacher=teacher)

    return started


def rows_of(run: TitleRun, units: list[str], toy: Toy) -> torch.Tensor:
    """Return the table's rows of some units."""
    titles = [toy[0].titles[row] for row in toy[0].aliases]
    known = fit_featurizer(titles, BAG).vocabularies[0].known
    return run.weights()["ngrams.weight"][[FIRST + known.index(unit) for unit in units]]


def test_words_begin_at_the_teachers(toy: Toy, teacher: Teacher, start: Start) -> None:
    """Each at twice its principal parts, within the spread; all other rows within that alone.

    "new" stands in validation queries only, so the vocabulary does not hold it.
    """
    run = start()
    words = [word for word in teacher.words.texts if word != "new"]
    assert {"baker", "senior"} < set(words) and "new" in teacher.words.texts
    begun = rows_of(run, [f" {word} " for word in words], toy)
    parts = principal(teacher.words.table, 5)
    wanted = 2.0 * parts[[teacher.words.texts.index(word) for word in words]]
    assert 0 < (begun - wanted).abs().max() <= 0.01
    assert wanted.abs().max() > 0.5
    table = run.weights()["ngrams.weight"]
    others = table[~(table[:, None] == begun[None]).all(2).any(1)]
    assert 0.009 < others[FIRST:].abs().max() <= 0.01
    assert (table[0] == 0).all()


def test_begins_alike(start: Start) -> None:
    one, other, wider = start(), start(), start(spread=0.03)
    assert torch.equal(one.weights()["ngrams.weight"], other.weights()["ngrams.weight"])
    assert not torch.equal(one.weights()["ngrams.weight"], wider.weights()["ngrams.weight"])


def test_a_word_is_its_whole_row(toy: Toy, start: Start) -> None:
    """With scale 0 it begins as any other unit."""
    assert rows_of(start(scale=0.0), [" baker ", " nurse "], toy).abs().max() <= 0.01


def test_the_total_holds_the_weighed_term(start: Start) -> None:
    """At step 0 the batch is the same, so what differs is the teacher's alone, and doubles."""
    totals = [start(weight=weight).objective(3) for weight in (0.0, 0.5, 1.0)]
    assert len({(loss.similar.item(), loss.dissimilar.item()) for loss in totals}) == 1
    none, half, whole = (loss.total.item() for loss in totals)
    assert none == pytest.approx((totals[0].similar + totals[0].dissimilar).item())
    assert whole - none == pytest.approx(2 * (half - none))
    assert whole > none + 0.1


@pytest.mark.thorough
def test_it_learns_the_teachers_ranks(start: Start) -> None:
    """The cross-entropy of twenty draws falls; without weight it stays higher."""

    def cross_entropy(run: TitleRun) -> float:
        judge = start(scale=0.0)
        judge.encoder.load_state_dict(run.weights())
        losses = (judge.objective(step) for step in range(500, 520))
        return sum((loss.total - loss.similar - loss.dissimilar).item() for loss in losses) / 20

    runs = [start(scale=0.0, weight=weight) for weight in (0.0, 3.0)]
    before = cross_entropy(runs[0])
    for run in runs:
        for step in range(60):
            run.step(step)
    untaught, taught = map(cross_entropy, runs)
    assert taught < before - 0.2
    assert taught < untaught - 0.1


def assert_same(one: Trained, other: Trained) -> None:
    for ours, theirs in ((one.weights, other.weights), (one.initial, other.initial)):
        assert all(torch.equal(ours[name], theirs[name]) for name in ours)


@pytest.mark.thorough
def test_a_killed_run_goes_on_to_the_same_bits(tmp_path: Path, start: Start) -> None:
    class Killed(Exception):
        pass

    def trained(folder: Path, say: Callable[[str], object]) -> Trained:
        run = start()
        return train(run, Checkpoints(folder, run_key(describe(run.settings), [])), say)

    def kill(line: str) -> None:
        if "step 4/" in line:
            raise Killed

    whole = trained(tmp_path / "whole", len)
    with pytest.raises(Killed):
        trained(tmp_path / "killed", kill)
    lines: list[str] = []
    assert_same(whole, trained(tmp_path / "killed", lines.append))
    assert "resumed at step 4" in lines


def test_how_it_is_taught_is_part_of_the_key(train_settings: Callable[..., TrainSettings]) -> None:
    ways: list[TeacherSettings | None] = [None, TAUGHT, replace(TAUGHT, weight=2.0)]
    keys = {run_key(describe(train_settings(teacher=way)), []) for way in ways}
    assert len(keys) == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"within": "title"}, "within = 'title'.*: set within to word"),
        ({"buckets": 50}, "buckets = 50 leave.*buckets to 0"),
    ],
)
def test_a_bag_without_words(
    toy: Toy,
    teacher: Teacher,
    train_settings: Callable[..., TrainSettings],
    changes: dict[str, object],
    message: str,
) -> None:
    encoder = replace(BAG, **changes)
    settings = train_settings(encoder=encoder, teacher=TAUGHT)
    featurizer = fit_featurizer(toy[0].titles, encoder)
    with pytest.raises(ValueError, match=message):
        TitleRun(*toy[:2], featurizer, settings, CPU, teacher=teacher)


def test_settings_and_teacher_belong_together(
    toy: Toy, teacher: Teacher, train_settings: Callable[..., TrainSettings]
) -> None:
    """An encoder without words has no use for one; without any it is the run that it always was."""
    plain, taught = train_settings(), train_settings(teacher=TAUGHT)
    assert TitleRun(*toy, plain, CPU).ranks is None
    with pytest.raises(ValueError, match="settings without a teacher, and a folder of one"):
        TitleRun(*toy, plain, CPU, teacher=teacher)
    with pytest.raises(ValueError, match="settings with a teacher, and no folder of one"):
        TitleRun(*toy, taught, CPU)
    with pytest.raises(ValueError, match="no vectors of whole words"):
        TitleRun(*toy, taught, CPU, teacher=teacher)
