"""The zoo on a toy: what systems differ in, what is best, a tiny run."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from benchmarks.__main__ import measure
from benchmarks.query_figures import pooled
from benchmarks.results import read_rows
from benchmarks.studies.zoo import measure as zoo
from benchmarks.study import study
from benchmarks.workspace import VALID, Workspace


def values(*numbers: float, test: str = "typos") -> pl.DataFrame:
    rows = [(test, f"q{k}", number) for k, number in enumerate(numbers)]
    return pl.DataFrame(rows, ["test", "query_id", "success_at_1"], orient="row")


def test_systems_differ_in_encoder_loss_and_learning_rate_alone(workspace: Path) -> None:
    params, tuned = Workspace.read("sample").params, study("zoo").config["tuned"]["sample"]
    options = Namespace(encoders=["all"], steps=12, batch=6)
    made = zoo.systems(params, tuned, options)
    assert list(made) == list(tuned)
    assert (
        len(zoo.systems(params, tuned, Namespace(**{**vars(options), "encoders": ["recurrent"]})))
        == 3
    )
    first = made["recurrent+contrastive"]
    for system, own in made.items():
        assert own.learning_rate == tuned[system]["learning_rate"]
        same = replace(own, encoder=first.encoder, loss=first.loss)
        assert replace(same, learning_rate=first.learning_rate) == first
        assert (own.max_steps, own.seed, own.batch_pairs) == (12, 1, 6)


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
    """Three encoders; run again nothing is trained."""
    kinds = ("recurrent", "ngram_bag", "word_average")
    tuned = {f"{kind}+margin": {"learning_rate": 0.01} for kind in kinds}
    monkeypatch.setitem(study("zoo").config, "tuned", {"sample": tuned})
    options = "--steps 4 --seeds 2 --repeats 1 --titles 30 --processes 1"
    words = [*options.split(), "--kept", str(tmp_path / "kept"), "--results", str(tmp_path)]
    measure(study("zoo"), words)
    assert "step 4/4" in capsys.readouterr().out
    rows = read_rows(tmp_path / "zoo.csv")
    systems = {row["system"] for row in rows if "+" in row["system"]}
    assert systems == set(tuned)
    compared = {row["system"] for row in rows if row["metric"] == "gain_over_best"}
    assert compared >= set(zoo.LEXICAL) and len(systems - compared) == 1
    lexical = {row["metric"] for row in rows if row["system"] in zoo.LEXICAL}
    assert lexical == {"gain_over_best"}  # the rest stands in table3
    speed = {(row["system"], row["test"]) for row in rows if row["metric"] == "titles_per_second"}
    assert speed == {(own, "encoding") for own in kinds}
    measure(study("zoo"), words)
    assert "step 4/4" not in capsys.readouterr().out
    again = read_rows(tmp_path / "zoo.csv")
    assert [row for row in again if row["metric"] != "titles_per_second"] == [
        row for row in rows if row["metric"] != "titles_per_second"
    ]
