"""The zoo on a toy: figures by hand, networks trained once, steps of featurizing, a tiny run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from study_workspace import make_workspace

from benchmarks import featurizing_speed, zoo
from benchmarks.featurizing_speed import UNITS, featurizing
from benchmarks.names import unnamed
from benchmarks.network_asked import VALID, Asked
from benchmarks.network_figures import figures, gains, pooled
from benchmarks.network_training import (
    Bounds,
    Job,
    Place,
    bounded,
    network,
    networks,
    outcome,
    start,
    tuned,
)
from benchmarks.render import page
from benchmarks.results_file import read_rows
from models.checkpoints import Checkpoints
from models.featurizer import FIRST, Featurizer
from models.kinds import kinds
from models.training import train
from tasks.network_params import training_settings
from tasks.params import AllParams, load_params

ALL = {"success_at_1": "success_at_1"}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_workspace(tmp_path_factory.mktemp("zoo"))


@pytest.fixture
def params(workspace: Path) -> AllParams:
    return load_params(workspace / "params.yaml")


@pytest.fixture
def place(workspace: Path, tmp_path: Path) -> Place:
    return Place(workspace / "data/pairs/3", tmp_path / "kept")


def values(*numbers: float | None, test: str = "typos") -> pl.DataFrame:
    rows = [(test, f"q{k}", number) for k, number in enumerate(numbers)]
    return pl.DataFrame(rows, ["test", "query_id", "success_at_1"], orient="row")


def test_figures_by_hand(params: AllParams) -> None:
    """Seed 1 has 2 of 4, seed 2 has 3 of 4; over queries means 1, 1, 1/2 and 0: 5/8."""
    found = list(figures({1: values(1, 1, 0, 0), 2: values(1, 1, 1, 0)}, ALL, params))
    assert [(row["seed"], row["value"], row["n"]) for row in found] == [
        (1, 0.5, 4),
        (2, 0.75, 4),
        (None, 0.625, 4),
    ]
    assert all(row["low"] <= row["value"] <= row["high"] for row in found)


def test_queries_without_a_number_are_left_out(params: AllParams) -> None:
    """Seed 1 knows 0.2 and 0.4 of three; seed 2 the last alone: 0.8. Means 0.2, 0.4, 0.8."""
    both = {1: values(0.2, 0.4, None), 2: values(None, None, 0.8)}
    found = list(figures(both, ALL, params))
    assert [row["n"] for row in found] == [2, 1, 3]
    assert [row["value"] for row in found] == pytest.approx([0.3, 0.8, 1.4 / 3])
    assert not list(
        figures({1: values(None, None).cast({"success_at_1": pl.Float64})}, ALL, params)
    )


def test_gains_are_paired_by_query_whatever_the_order(params: AllParams) -> None:
    """Means over seeds 1, 1/2, 0 less 1, 0, 0: (0 + 1/2 + 0) / 3; equal systems gain exactly 0."""
    mine = {1: values(1, 1, 0), 2: values(1, 0, 0)}
    theirs = {5: values(1, 0, 0).reverse()}
    (row,) = gains(mine, theirs, "gain_over_best", params)
    assert row["value"] == pytest.approx(1 / 6)
    (same,) = gains(mine, mine, "gain_over_best", params)
    assert (same["value"], same["low"], same["high"], same["seed"]) == (0, 0, 0, None)
    with pytest.raises(ValueError, match="ask both the same"):
        next(gains(mine, {1: values(1, 0)}, "gain_over_best", params))
    more = pl.concat([values(1, 0, 0), values(1, test="valid")])
    assert [row["test"] for row in gains(mine, {1: more}, "g", params)] == ["typos"]


def test_an_index_draws_the_queries_of_its_test(params: AllParams) -> None:
    numbers = np.random.default_rng(1).random(30)
    plain, own = (
        next(figures({1: values(*numbers, test=test)}, ALL, params))
        for test in ("typos", "own_index/typos")
    )
    assert (plain["low"], plain["high"]) == (own["low"], own["high"])


def test_all_systems_have_the_same_trials(params: AllParams) -> None:
    """Two systems of one learning rate differ in encoder and loss alone."""
    found = list(zoo.trials(params, kinds("encoders"), zoo.LOSSES, zoo.RATES, 12))
    names: dict[str, list[str]] = {}
    for trial in found:
        names.setdefault(trial.system, []).append(trial.name)
    assert len(names) == 7 * 3
    assert {tuple(each) for each in names.values()} == {
        ("learning_rate=0.002", "learning_rate=0.005", "learning_rate=0.01")
    }
    first = found[0].settings
    for trial in found:
        own = replace(trial.settings, encoder=first.encoder, loss=first.loss)
        assert replace(own, learning_rate=first.learning_rate) == first
        assert (trial.settings.max_steps, trial.settings.seed) == (12, 1)


def test_a_network_is_trained_once(
    params: AllParams, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = bounded(training_settings(params, 1), 8, 3)
    assert (settings.evaluate_every, settings.patience, settings.seed) == (2, 9, 3)
    out = network(Job("it", settings), place)
    assert "it: step 8/8" in capsys.readouterr().out
    assert [look.step for look in outcome(out).looks] == [0, 2, 4, 6, 8]
    assert network(Job("again", settings), place) == out
    assert "step" not in capsys.readouterr().out
    assert network(Job("other", replace(settings, seed=4)), place) != out
    assert not list(place.kept.glob("*.safetensors"))


def test_a_killed_network_goes_on_to_the_same_weights(
    params: AllParams, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = bounded(training_settings(params, 1), 8, 1)
    whole = network(Job("whole", settings), place)
    other = replace(place, kept=place.kept / "other")

    class Killed(Exception):
        pass

    def kill(line: str) -> None:
        if "step 4/" in line:
            raise Killed

    with pytest.raises(Killed):
        train(start(settings, other).run, Checkpoints(other.kept, whole.name), kill)
    capsys.readouterr()
    resumed = network(Job("resumed", settings), other)
    assert "resumed at step 4" in capsys.readouterr().out
    name = "weights.safetensors"
    assert (resumed / name).read_bytes() == (whole / name).read_bytes()


def test_processes_change_no_weight(params: AllParams, place: Place) -> None:
    """In two processes of their own, and here."""
    settings = bounded(training_settings(params, 1), 3, 1)
    jobs = [Job(f"seed {seed}", replace(settings, seed=seed)) for seed in (1, 2)]
    other = replace(place, kept=place.kept / "other")
    for alone, beside in zip(networks(jobs, place, 1), networks(jobs, other, 2), strict=True):
        file = "weights.safetensors"
        assert alone.name == beside.name
        assert (alone / file).read_bytes() == (beside / file).read_bytes()


def test_the_best_trial_is_trained_with_every_seed(params: AllParams, place: Place) -> None:
    """Judged by the best look of each trial; of equal ones the first is taken."""
    tried = list(zoo.trials(params, ["ngram_bag"], ["margin"], [0.002, 0.05], 4))
    found = tuned(tried, place, Bounds(4, 6, 2, 1))
    scores = [
        max(look.valid_score for look in outcome(network(Job("", each.settings), place)).looks)
        for each in tried
    ]
    chosen = tried[scores.index(max(scores))]
    own = found.settings["ngram_bag+margin"]
    assert own == bounded(chosen.settings, 6, 1)
    assert list(found.networks["ngram_bag+margin"]) == [1, 2]
    assert len(set(found.networks["ngram_bag+margin"].values())) == 2
    rows = {(row["test"], row["metric"]): row["value"] for row in found.rows}
    assert rows[f"trial:{chosen.name}", "chosen"] == 1
    assert rows[f"trial:{chosen.name}", "valid_success_at_1"] == max(scores)
    assert {row["n"] for row in found.rows} == {10}
    with pytest.raises(ValueError, match="at most 6"):
        tuned(tried * 4, place, Bounds(4, 6, 2, 1))


def test_missing_pairs_say_what_to_run(params: AllParams, tmp_path: Path) -> None:
    tried = list(zoo.trials(params, ["ngram_bag"], ["margin"], [0.01], 4))
    with pytest.raises(FileNotFoundError, match="make reproduce"):
        tuned(tried, Place(tmp_path, tmp_path), Bounds(1, 1, 1, 1))


def test_every_step_of_featurizing_is_timed_on_all_titles() -> None:
    titles = ["Bread baker", "tram driver", "Zoo keeper"]
    works = list(featurizing(titles[:2], titles))
    assert [work.system for work in works[::5]] == list(UNITS)
    assert all(work.run() == 3 for work in works if work.test != "featurizing/memory")
    assert all(work.run() > 3 for work in works if work.test == "featurizing/memory")


@pytest.mark.parametrize("name", UNITS)
def test_hashing_and_looking_up_find_what_the_featurizer_finds(name: str) -> None:
    """As many units of new titles are known, and hashed ones have the same ids."""
    training, titles = ["bread baker", "tram driver"], ["bread driver", "brad"]
    units = UNITS[name]
    ids = Featurizer.fit(training, (units,))(titles).streams[0].flat
    hashes = featurizing_speed._hashes(titles, units)
    known = np.unique(featurizing_speed._hashes(training, units))
    found = np.asarray(featurizing_speed._looked_up(hashes, known, units))
    if units.buckets:
        assert (found + FIRST).tolist() == ids.tolist()
    else:
        there = known[found.clip(max=len(known) - 1)] == hashes
        assert there.sum() == (ids >= FIRST).sum() > 0


def test_titles_are_repeated_when_there_are_few(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace)
    asked = Asked.read("sample")
    assert asked.queries.filter(test=VALID).height == 10
    assert asked.queries.height == 5 * 5 + 10
    titles = asked.titles(60)
    assert len(titles) == 60
    assert titles[:25] == titles[25:50]
    assert titles[:2] == ["old data entry clerk", "old bread baker"]


def test_too_many_trials_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        zoo.main(["--trials", *"1234567"])
    assert "at most 6" in capsys.readouterr().err


def test_best_is_by_validation_queries_alone() -> None:
    """The one that loses every test has the better validation queries."""
    good = pl.concat([values(0, 0), values(1, 1, test=VALID)])
    bad = pl.concat([values(1, 1), values(1, 0, test=VALID)])
    assert zoo.best({"bad": {1: bad}, "good": {1: good}}) == "good"
    assert pooled({1: good, 2: bad}).height == 4


def test_tiny_run(
    workspace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every encoder; names are explained, tables rendered; run again nothing is trained."""
    monkeypatch.chdir(workspace)
    bounds = "--losses margin info_nce --trials 0.01 0.05 --trial-steps 2 --steps 4 --seeds 2"
    asked = f"{bounds} --repeats 1 --titles 30 --processes 1".split()
    zoo.main([*asked, "--kept", str(tmp_path / "kept")], tmp_path)
    assert "step 4/4" in capsys.readouterr().out
    rows = read_rows(tmp_path / "zoo.csv")
    assert unnamed(rows) == set()
    systems = {row["system"] for row in rows if "+" in row["system"]}
    assert systems == {
        f"{kind}+{loss}" for kind in kinds("encoders") for loss in ("margin", "info_nce")
    }
    best = [row["system"] for row in rows if row["metric"] == "is_best" and row["value"] == "1"]
    assert len(best) == 1
    compared = {row["system"] for row in rows if row["metric"] == "gain_over_best"}
    assert compared == systems - set(best) | set(zoo.LEXICAL)
    ratio = {
        row["value"]
        for row in rows
        if row["metric"] == "times_recurrent" and row["system"].startswith("recurrent")
    }
    assert ratio == {"1"}
    (ngram,) = (
        row
        for row in rows
        if (row["system"], row["test"], row["metric"]) == ("ngram", "typos", "success_at_1")
    )
    assert (ngram["value"], ngram["seed"]) == ("0.2000", "")  # five occupations, all equal
    text = page(tmp_path)
    for title in ("success@1", "what each costs", "trials, success@1 of validation queries"):
        assert f"### sample: {title}\n" in text
    zoo.main([*asked, "--kept", str(tmp_path / "kept")], tmp_path)
    assert "step 4/4" not in capsys.readouterr().out
    again = read_rows(tmp_path / "zoo.csv")
    speed = ("titles_per_second", "times_recurrent", "seconds")
    assert [row for row in again if row["metric"] not in speed] == [
        row for row in rows if row["metric"] not in speed
    ]
