"""The zoo on a toy: equal trials, steps of featurizing, what is best, a tiny run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmarks.__main__ import measure
from benchmarks.query_figures import pooled
from benchmarks.results import read_rows
from benchmarks.studies.zoo import featurizing as steps
from benchmarks.studies.zoo import measure as zoo
from benchmarks.studies.zoo.featurizing import UNITS, featurizing
from benchmarks.study import study
from benchmarks.tuning import bounded
from benchmarks.workspace import VALID, Workspace
from models.network.kinds import kinds
from models.text.featurizer import FIRST, Featurizer
from tasks.params.network import training_settings

LOSSES, RATES = ("contrastive", "margin", "info_nce"), (0.002, 0.005, 0.01)


def values(*numbers: float, test: str = "typos") -> pl.DataFrame:
    rows = [(test, f"q{k}", number) for k, number in enumerate(numbers)]
    return pl.DataFrame(rows, ["test", "query_id", "success_at_1"], orient="row")


def test_all_systems_have_the_same_trials(workspace: Path) -> None:
    """Two systems of one learning rate differ in encoder and loss alone."""
    params = Workspace.read("sample").params
    base = bounded(training_settings(params.network, 1), 12)
    grids = zoo.grids(params, kinds("encoders"), LOSSES, RATES, base)
    made = [trial for grid in grids for trial in grid.trials()]
    names: dict[str, list[str]] = {}
    for trial in made:
        names.setdefault(trial.system, []).append(trial.name)
    assert len(names) == 6 * 3
    assert {tuple(own) for own in names.values()} == {
        ("learning_rate=0.002", "learning_rate=0.005", "learning_rate=0.01")
    }
    first = made[0].settings
    for trial in made:
        own = replace(trial.settings, encoder=first.encoder, loss=first.loss)
        assert replace(own, learning_rate=first.learning_rate) == first
        assert (trial.settings.max_steps, trial.settings.seed) == (12, 1)


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
    hashes = steps._hashes(titles, units)
    known = np.unique(steps._hashes(training, units))
    ids_of_hashes = np.asarray(steps._looked_up(hashes, known, units))
    if units.buckets:
        assert (ids_of_hashes + FIRST).tolist() == ids.tolist()
    else:
        there = known[ids_of_hashes.clip(max=len(known) - 1)] == hashes
        assert there.sum() == (ids >= FIRST).sum() > 0


def test_too_many_trials_are_refused(workspace: Path, tmp_path: Path) -> None:
    rates = [f"0.0{k}" for k in range(1, 8)]
    with pytest.raises(ValueError, match="at most 6"):
        measure(study("zoo"), ["--trials", *rates, "--kept", str(tmp_path)], tmp_path)


def test_best_is_by_validation_queries_alone() -> None:
    """The one that loses every test has the better validation queries."""
    good = pl.concat([values(0, 0), values(1, 1, test=VALID)])
    bad = pl.concat([values(1, 1), values(1, 0, test=VALID)])
    assert zoo.best({"bad": {1: bad}, "good": {1: good}}) == "good"
    assert pooled({1: good, 2: bad}).height == 4


def test_tiny_run(workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three encoders; the best trial is taken; names are explained; again nothing is trained."""
    options = "--encoders recurrent ngram_bag word_average --losses margin --trials 0.01 0.05"
    options += " --trial-steps 2 --steps 4 --seeds 2 --repeats 1 --titles 30 --processes 1"
    words = [*options.split(), "--kept", str(tmp_path / "kept")]
    measure(study("zoo"), words, tmp_path)
    assert "step 4/4" in capsys.readouterr().out
    rows = read_rows(tmp_path / "zoo.csv")
    assert list(study("zoo").meanings(rows))
    systems = {row["system"] for row in rows if "+" in row["system"]}
    assert systems == {f"{kind}+margin" for kind in ("recurrent", "ngram_bag", "word_average")}
    best = [row["system"] for row in rows if row["metric"] == "is_best" and row["value"] == "1"]
    assert len(best) == 1
    compared = {row["system"] for row in rows if row["metric"] == "gain_over_best"}
    assert compared == systems - set(best) | set(zoo.LEXICAL)
    lexical = {row["metric"] for row in rows if row["system"] in zoo.LEXICAL}
    assert lexical == {"gain_over_best"}  # the rest stands in table3
    for system in systems:
        scores = {
            row["test"]: float(row["value"])
            for row in rows
            if (row["system"], row["metric"]) == (system, "valid_success_at_1")
        }
        (taken,) = (
            row["test"]
            for row in rows
            if (row["system"], row["metric"], row["value"]) == (system, "chosen", "1")
        )
        assert scores[taken] == max(scores.values())
    ratio = {row["value"] for row in rows if row["metric"] == "times_recurrent"} & {"1"}
    assert ratio == {"1"}
    measure(study("zoo"), words, tmp_path)
    assert "step 4/4" not in capsys.readouterr().out
    speed = ("titles_per_second", "times_recurrent", "seconds")
    again = read_rows(tmp_path / "zoo.csv")
    assert [row for row in again if row["metric"] not in speed] == [
        row for row in rows if row["metric"] not in speed
    ]
