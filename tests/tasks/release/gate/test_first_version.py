"""First versions: promoted unless significantly worse, and what is said where nothing gained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from frames_of import queries_of

from tasks.io.frames import write_frame
from tasks.io.schemas import QUERIES
from tasks.release.gate.first_version import decide_first, what_training_saw, without_champion
from tasks.release.gate.gate_figures import SystemResults


def answers(queries: int, difference: int) -> SystemResults:
    """The untrained network is right on half; so many more, or fewer, are right after training."""
    untrained = np.zeros(queries)
    untrained[: queries // 2] = 1
    trained = np.zeros(queries)
    trained[: queries // 2 + difference] = 1
    return SystemResults(trained, untrained)


def test_promoted_unless_significantly_worse() -> None:
    """One query of 100 fewer is no proof; 20 fewer are, and no gain elsewhere makes up for it."""
    good = decide_first({"a": answers(100, 20), "b": answers(100, -1)}, 0.05, "")
    assert good.promoted
    assert good.reason == (
        "a first version, significantly worse than the untrained network on none of 2 tests; "
        "better on a"
    )
    bad = decide_first({"a": answers(100, 20), "b": answers(100, -20)}, 0.05, "")
    assert not bad.promoted
    assert (
        bad.reason == "significantly worse than the untrained network on b (-0.200 on 100 queries)"
    )


def test_a_gain_on_the_labelled_inputs_makes_up_for_a_loss_on_made_up_titles() -> None:
    tests = {"annotations": answers(100, 20), "typos": answers(100, -20)}
    made = decide_first(tests, 0.05, "")
    assert made.promoted
    assert made.reason == (
        "a first version, significantly worse than the untrained network on typos (-0.200 on 100 "
        "queries); better on annotations; the gain on labelled inputs makes up for that"
    )
    tests["annotations"] = answers(100, 1)
    assert not decide_first(tests, 0.05, "").promoted


def test_no_gain_says_why() -> None:
    same = decide_first({"a": answers(10, 0)}, 0.05, "the weights of step 0 were kept")
    assert same.promoted
    assert same.reason.endswith("but no gain is shown: the weights of step 0 were kept")
    none = decide_first({}, 0.05, "because")
    assert none.promoted and "the gate has no queries to judge it by" in none.reason


@pytest.mark.parametrize(
    ("scores", "queries", "words"),
    [
        ([0.5, 0.4, 0.5], 4, "no later look at the 4 validation queries was better than that at "),
        ([0.5, 0.6, 0.6], 4, "those of step 100, chosen by 4 validation queries, whose score is "),
        ([0.5, 0.6, 0.7], 0, "training had no validation queries"),
    ],
)
def test_what_training_saw(tmp_path: Path, scores: list[float], queries: int, words: str) -> None:
    """Equal looks keep the first, as training does."""
    rows = [
        (f"v{k}", "annotations", "valid", f"cook {k}", ["a"], 1, "input") for k in range(queries)
    ]
    rows.append(("g", "annotations", "gate", "baker", ["a"], 1, "input"))
    write_frame(queries_of(rows), tmp_path / "data/split/queries.parquet", QUERIES)
    looks = pl.DataFrame({"step": [0, 100, 200], "valid_score": scores})
    looks.write_csv(tmp_path / "history.csv")
    assert words in what_training_saw(tmp_path / "model", tmp_path / "data")


def test_steps_on_verdicts_are_named(tmp_path: Path) -> None:
    """No validation query judges them: the history has no score of theirs."""
    queries = queries_of([("v", "annotations", "valid", "cook", ["a"], 1, "input")])
    write_frame(queries, tmp_path / "data/split/queries.parquet", QUERIES)
    looks = pl.DataFrame({"step": [0, 100], "valid_score": [0.5, 0.6]})
    more = pl.DataFrame({"step": [160, 220], "valid_score": [float("nan")] * 2})
    for history, ends in ((looks, "only"), (pl.concat([looks, more]), "; 120 steps on people's")):
        history.write_csv(tmp_path / "history.csv")
        said = what_training_saw(tmp_path / "model", tmp_path / "data")
        assert said.startswith("the weights are those of step 100, chosen by 1 validation queries")
        assert said.removesuffix(" verdicts followed").endswith(ends)


def test_a_consumer_is_told_what_to_load_and_the_owner_what_to_call() -> None:
    said = without_champion("mine", "2")
    assert "models:/mine/2 or models:/mine@challenger" in said
    assert "set_registered_model_alias('mine', 'champion', 2)" in said
