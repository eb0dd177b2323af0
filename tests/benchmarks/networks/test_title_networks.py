"""Networks on titles: trained once, resumed, kept; figures of their answers by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmarks.networks import runner
from benchmarks.networks.runner import Job, bounded
from benchmarks.networks.title_networks import TitleNetworks
from benchmarks.query_figures import figures, gains
from benchmarks.workspace import VALID, Workspace
from models.metrics.crossed_intervals import crossed_interval
from models.training.checkpoints import Checkpoints
from models.training.loop import train
from tasks.check_params import AllParams
from tasks.pipeline.train.network_params import training_settings

ALL = {"success_at_1": "success_at_1"}


@pytest.fixture
def params(workspace: Path) -> AllParams:
    return Workspace.read("sample").params


@pytest.fixture
def networks(workspace: Path, tmp_path: Path) -> TitleNetworks:
    return TitleNetworks(tmp_path / "kept", 1, Workspace.read("sample").pairs("extra_words"))


def values(*numbers: float | None, test: str = "typos") -> pl.DataFrame:
    rows = [(test, f"q{k}", number) for k, number in enumerate(numbers)]
    return pl.DataFrame(rows, ["test", "query_id", "success_at_1"], orient="row")


def test_figures_by_hand(params: AllParams) -> None:
    """Seed 1 has 2 of 4, seed 2 has 3 of 4; over queries means 1, 1, 1/2 and 0: 5/8."""
    by_seed = {1: values(1, 1, 0, 0), 2: values(1, 1, 1, 0)}
    rows = list(figures("s", by_seed, ALL, params))
    assert [(row.seed, row.value, row.n) for row in rows] == [
        (1, 0.5, 4),
        (2, 0.75, 4),
        (None, 0.625, 4),
    ]
    assert all(row.low <= row.value <= row.high for row in rows)  # type: ignore[operator]


def test_queries_without_a_number_are_left_out(params: AllParams) -> None:
    """Seed 1 knows 0.2 and 0.4 of three; seed 2 the last alone: 0.8. Means 0.2, 0.4, 0.8."""
    both = {1: values(0.2, 0.4, None), 2: values(None, None, 0.8)}
    rows = list(figures("s", both, ALL, params))
    assert [row.n for row in rows] == [2, 1, 3]
    assert [row.value for row in rows] == pytest.approx([0.3, 0.8, 1.4 / 3])
    none = {1: values(None, None).cast({"success_at_1": pl.Float64})}
    assert not list(figures("s", none, ALL, params))


def test_a_query_counts_as_often_as_it_has_a_number(params: AllParams) -> None:
    """Of five numbers 1, 0; 1, 0, 1 three are 1; a mean of the queries' means would be 2/3."""
    rows = list(figures("s", {1: values(1, 0, None), 2: values(1, 0, 1)}, ALL, params))
    assert rows[-1].n == 3
    assert rows[-1].value == pytest.approx(0.6)
    assert rows[-1].low <= 0.6 <= rows[-1].high  # type: ignore[operator]


def test_gains_are_paired_by_query_whatever_the_order(params: AllParams) -> None:
    """Means over seeds 1, 1/2, 0 less 1, 0, 0: (0 + 1/2 + 0) / 3; equal systems gain exactly 0."""
    mine = {1: values(1, 1, 0), 2: values(1, 0, 0)}
    theirs = {5: values(1, 0, 0).reverse()}
    (row,) = gains("s", mine, theirs, "gain_over_best", params)
    assert row.value == pytest.approx(1 / 6)
    (same,) = gains("s", mine, mine, "gain_over_best", params)
    assert (same.value, same.low, same.high, same.seed) == (0, 0, 0, None)
    with pytest.raises(ValueError, match="ask both the same"):
        next(gains("s", mine, {1: values(1, 0)}, "gain_over_best", params))
    more = pl.concat([values(1, 0, 0), values(1, test="valid")])
    assert [row.test for row in gains("s", mine, {1: more}, "g", params)] == ["typos"]


def test_a_gain_holds_what_other_seeds_would_change(params: AllParams) -> None:
    """Seed by seed: 1 − 0, 0 − 0 and 0 − 1, 1 − 1; one seed alone is a bootstrap over queries."""
    mine, theirs = {1: values(1, 0), 2: values(0, 1)}, {1: values(0, 0), 2: values(1, 1)}
    (row,) = gains("s", mine, theirs, "g", params)
    interval = crossed_interval(np.array([[1.0, 0.0], [-1.0, 0.0]]))
    assert (row.value, row.low, row.high) == (0.0, interval.low, interval.high)
    (alone,) = gains("s", {1: mine[1]}, {1: theirs[1]}, "g", params)
    assert (alone.value, alone.low, alone.high) == (0.5, 0.0, 1.0)
    (unseeded,) = gains("s", mine, {0: values(0, 0)}, "g", params)
    over_one = crossed_interval(np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert (unseeded.low, unseeded.high) == (over_one.low, over_one.high)


def test_a_network_is_named_by_the_code_that_trains_it(
    params: AllParams, networks: TitleNetworks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code that answers titles and comments do not count (stage `training_code_hash`)."""
    job = Job("it", bounded(training_settings(params.network, 1), 2))
    made = networks.outcome(job).folder
    known = runner.training_code(job.settings, "models.training.train_files")
    assert "models/training/title_run.py" in known
    assert "models/encoders/recurrent.py" in known
    assert "models/normalizer/normalizer.py" not in known
    monkeypatch.setattr(runner, "code_of", lambda *_: {"models/training/title_run.py": "another"})
    assert networks.outcome(job).folder != made


def test_a_setting_draws_the_queries_of_its_test(params: AllParams) -> None:
    numbers = np.random.default_rng(1).random(30)
    plain, own = (
        next(figures("s", {1: values(*numbers, test=test)}, ALL, params))
        for test in ("typos", "odd/typos")
    )
    assert (plain.low, plain.high) == (own.low, own.high)


def test_an_exam_has_every_test_and_the_validation_queries(workspace: Path) -> None:
    exam = Workspace.read("sample").exam()
    assert exam.queries.filter(test=VALID).height == 10
    assert exam.queries.height == 5 * 5 + 10


def test_a_network_is_trained_once(
    params: AllParams, networks: TitleNetworks, capsys: pytest.CaptureFixture[str]
) -> None:
    """And the weights of the last step are another network's than those of the best look."""
    settings = bounded(training_settings(params.network, 1), 8, 3)
    assert (settings.evaluate_every, settings.patience, settings.seed) == (2, 9, 3)
    made = networks.outcome(Job("it", settings))
    assert "it: step 8/8" in capsys.readouterr().out
    assert [look.step for look in made.looks] == [0, 2, 4, 6, 8]
    assert networks.outcome(Job("again", settings)).folder == made.folder
    assert "step" not in capsys.readouterr().out
    assert networks.outcome(Job("other", replace(settings, seed=4))).folder != made.folder
    assert replace(networks, last=True).outcome(Job("", settings)).folder != made.folder
    assert not list(networks.kept.glob("*.safetensors"))


def test_a_killed_network_goes_on_to_the_same_weights(
    params: AllParams, networks: TitleNetworks, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = bounded(training_settings(params.network, 1), 8, 1)
    first = networks.outcome(Job("whole", settings))
    whole, took = first.folder, first.seconds
    other = replace(networks, kept=networks.kept / "other")

    class Killed(Exception):
        pass

    def kill(line: str) -> None:
        if "step 4/" in line:
            raise Killed

    with pytest.raises(Killed):
        train(other.started(settings)[0], Checkpoints(other.kept, whole.name), kill)
    capsys.readouterr()
    later = other.outcome(Job("resumed", settings))
    resumed = later.folder
    assert took is not None and took > 0
    assert later.seconds is None, "a part of a training is no time of it"
    assert "resumed at step 4" in capsys.readouterr().out
    name = "weights.safetensors"
    assert (resumed / name).read_bytes() == (whole / name).read_bytes()


def test_missing_pairs_say_what_to_run(params: AllParams, tmp_path: Path) -> None:
    job = Job("", training_settings(params.network, 1))
    with pytest.raises(FileNotFoundError, match="make reproduce"):
        TitleNetworks(tmp_path, 1, tmp_path).outcome(job)
