"""The replays of the gate: what they draw, and a small run against what must hold."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from toy_workspace import queries

from benchmarks.studies import gate
from benchmarks.studies.gate import STANDS, GateTest, replayed, scenarios
from benchmarks.workspace import Workspace

TESTS = {"annotations": GateTest(430, 0.1, 0.6), "typos": GateTest(800, 0.01, 0.97)}


def test_a_replay_has_the_discordance_and_the_true_difference() -> None:
    """Of 400,000 queries: wins 0.05 + 0.03, losses 0.05; typos, all but right, lose 0.02 more."""
    many = {name: test._replace(queries=400_000) for name, test in TESTS.items()}
    differences = {"annotations": 0.03, "typos": -0.02}
    made = replayed(many, differences, np.random.default_rng(1))
    for name, wins, losses in (("annotations", 0.08, 0.05), ("typos", 0.005, 0.025)):
        answers = made[name]
        differences = answers.challenger - answers.opponent
        assert np.mean(differences > 0) == pytest.approx(wins, abs=0.002)
        assert np.mean(differences < 0) == pytest.approx(losses, abs=0.002)
        if name == "annotations":
            assert answers.challenger.mean() == pytest.approx(0.6, abs=0.003)


def test_disputed_titles_are_of_the_inputs_that_change() -> None:
    """Wins and losses are .05 of the inputs each, and .03 more win: .23 change in all."""
    labelled = GateTest(400_000, 0.1, 0.6, 643, 0.2)
    both = {"annotations": labelled, "disputed": labelled}
    made = replayed(both, {"annotations": 0.03}, np.random.default_rng(1))["disputed"]
    differences = made.challenger - made.opponent
    assert np.mean(differences > 0) == pytest.approx(0.08 / 0.23, abs=0.003)
    assert np.mean(differences < 0) == pytest.approx(0.05 / 0.23, abs=0.003)


def test_replies_come_week_by_week_and_the_customers_may_differ_alone() -> None:
    """Twenty of either kind a week; labelled inputs and typos are there at once."""
    test = GateTest(60, 0.2, 0.5, 643, 0.4)
    tests = {"annotations": test, "random_titles": test, "disputed": test}
    drawn = replayed(tests, {"customer": 0.2}, np.random.default_rng(1))
    weeks = [*gate.looks(drawn)]
    sizes = [{name: len(own.challenger) for name, own in week.items()} for week in weeks]
    assert [list(week.values()) for week in sizes] == [[60, 20, 20], [60, 40, 40], [60, 60, 60]]
    assert weeks[-1]["disputed"].challenger.tolist() == drawn["disputed"].challenger.tolist()
    many = {name: own._replace(queries=200_000) for name, own in tests.items()}
    made = replayed(many, {"customer": 0.2}, np.random.default_rng(1))
    gains = {name: np.mean(own.challenger - own.opponent) for name, own in made.items()}
    assert gains["annotations"] == pytest.approx(0, abs=0.005)
    assert gains["random_titles"] == pytest.approx(0.2, abs=0.005)
    assert len([*gate.looks({"typos": drawn["annotations"]})]) == 1


def test_scenarios() -> None:
    """Each difference on labelled inputs, and each loss elsewhere, beside a gain on them."""
    assert scenarios(TESTS, [-0.01], [-0.02]) == {
        "annotations:-0.01": {"annotations": -0.01},
        "typos:-0.02": {"annotations": 0.03, "typos": -0.02},
    }


def test_a_study_on_a_toy(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten queries a test cannot show anything, ten thousand can."""
    monkeypatch.setattr(
        gate, "read_tests", lambda _: {"annotations": GateTest(10, 0.1, 0.5, 643, 0.2)}
    )
    options = Namespace(
        replays=40, labels=[10_000], answers=[1000], labelled=[-0.03, 0.03], elsewhere=[]
    )
    (rows,) = gate.measure("sample", options)
    values = {(row.system, row.test): row.value for row in rows if row.metric == "promoted"}
    assert values == {
        (STANDS, "annotations:-0.03"): 0,
        (STANDS, "annotations:+0.03"): pytest.approx(0, abs=0.1),
        ("labels:10000", "annotations:-0.03"): 0,
        ("labels:10000", "annotations:+0.03"): 1,
        ("random:1000", "annotations:-0.03"): pytest.approx(0, abs=0.15),
        ("random:1000", "annotations:+0.03"): pytest.approx(0.1, abs=0.15),
        ("answers:1000", "annotations:-0.03"): pytest.approx(0, abs=0.15),
        ("answers:1000", "annotations:+0.03"): pytest.approx(0.9, abs=0.1),
        **{
            (system, f"customer:{of[-5:]}"): pytest.approx(value, abs=0.2)
            for (system, of), value in values.items()
            if system in ("random:1000", "answers:1000") and "annotations" in of
        },
    }
    random, both = (values[name, "annotations:+0.03"] for name in ("random:1000", "answers:1000"))
    assert both > random + 0.1
    (again,) = gate.measure("sample", options)
    assert again == rows


def test_tests_are_read_from_the_networks_of_a_workspace(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same network under both names never differs; only tests that the gate asks are there."""
    queried = pl.concat(
        [queries("annotations", "gate", "the "), queries("annotations", "valid", "a ")]
    )
    queried = pl.concat([queried, queries("heldout_alias", "valid", "head ")])
    parts = {split: queried.filter(split=split) for split in ("gate", "valid")}
    monkeypatch.setattr(gate, "gate_queries", lambda _: parts["gate"])
    monkeypatch.setattr(gate, "read_queries", lambda split, _: parts[split])
    monkeypatch.setattr(Workspace, "model", lambda *_: Path("data/train/typos/1/model"))
    (test,) = gate.read_tests(Workspace.read("sample")).items()
    assert test[0] == "annotations"
    assert (test[1].queries, test[1].discordance, test[1].measured) == (5, 0.0, 10)
    assert test[1].changed == 0
    assert 0 <= test[1].right <= 1
