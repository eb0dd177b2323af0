"""The study of frozen spaces on a toy: what is compared with what, a tiny run."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.__main__ import measure
from benchmarks.networks.runner import Job, bounded
from benchmarks.networks.title_networks import TitleNetworks
from benchmarks.query_figures import UNSEEDED
from benchmarks.results import read_rows
from benchmarks.studies.frozen_space import measure as frozen_space
from benchmarks.studies.frozen_space.measure import METRICS, in_space, quality, systems
from benchmarks.study import study
from benchmarks.workspace import Exam, Workspace
from models.losses.shared.bessel import log_bessel_i_over_power
from models.network.kinds import kind_of
from models.network.model_files import load_model
from tasks.evaluation.systems import network
from tasks.pipeline.train.network_params import training_settings

REFERENCE = Path("data/train/typos/1/model")
TUNED = {system: {"learning_rate": 0.01} for system in (*frozen_space.COMPARED, frozen_space.FREE)}


@pytest.fixture
def exam(workspace: Path) -> Exam:
    return Workspace.read("sample").exam()


def networks(kept: Path, reference: Path | None = None) -> TitleNetworks:
    return TitleNetworks(kept, 1, Workspace.read("sample").pairs("extra_words"), reference)


def test_stored_embeddings_are_those_of_the_reference_model(exam: Exam, tmp_path: Path) -> None:
    """The reference model meets them as its own; another network does not."""
    titles = exam.index.titles
    stored, own = in_space(REFERENCE, REFERENCE, titles), network(*load_model(REFERENCE), titles)
    np.testing.assert_allclose(stored(titles), own(titles), atol=1e-6)
    np.testing.assert_allclose(np.diag(stored(titles)), 1, atol=1e-5)
    settings = bounded(training_settings(exam.params.network, 9), 1, 9)
    other = networks(tmp_path).outcome(Job("other", settings)).folder
    assert np.diag(in_space(other, REFERENCE, titles)(titles)).max() < 0.999


@given(st.integers(0, 100), st.floats(0.1, 200))
def test_density_ranks_as_the_cosine_does(seed: int, norm: float) -> None:
    """With unit u log p(u; û) is log C(‖û‖) + ûᵀu: the first term is the same for all u."""
    draw = torch.Generator().manual_seed(seed)
    targets = torch.nn.functional.normalize(torch.randn(6, 8, generator=draw).double(), dim=1)
    predicted = torch.randn(8, generator=draw).double()
    predicted *= norm / predicted.norm()
    log_c = -4 * math.log(2 * math.pi) - log_bessel_i_over_power(3.0, predicted.norm()[None])
    density = log_c + targets @ predicted
    cosine = targets @ (predicted / predicted.norm())
    assert torch.equal(density.argsort(), cosine.argsort())


def test_every_system_has_its_own_loss(exam: Exam) -> None:
    """All that differs is the loss and what was tuned."""
    base = bounded(training_settings(exam.params.network, 1), 12)
    made = systems(exam.params, TUNED, 12)
    assert {system for system, own in made.items() if own.loss.needs_targets} == {
        "von_mises_fisher",
        *frozen_space.FROZEN,
    }
    assert kind_of(made["free"].loss) == exam.params.train.loss.kind
    for system, own in made.items():
        same = replace(own, loss=base.loss, learning_rate=base.learning_rate)
        assert same == base and own.learning_rate == 0.01
        if system in (*frozen_space.FROZEN, *frozen_space.TRAINABLE):
            assert vars(own.loss)["negatives"] == system


def answered(*right: float) -> pl.DataFrame:
    """Four queries of one test."""
    columns = {"test": "typos", "query_id": [f"q{k}" for k in range(len(right))]}
    values = [pl.Series(name, right) for name in METRICS]
    return pl.DataFrame(columns).with_columns(*values)


def test_what_is_compared_with_what_by_hand(exam: Exam) -> None:
    """Of 4 queries `free` finds 3 in its own index and none stored, `reference` 2, `difference` 1.

    von Mises-Fisher finds none.
    """
    ranked = {
        "von_mises_fisher": {1: answered(0, 0, 0, 0)},
        "difference": {1: answered(1, 0, 0, 0)},
        "free": {1: answered(0, 0, 0, 0)},
        "reference": {UNSEEDED: answered(1, 1, 0, 0)},
    }
    rows = list(quality(ranked, {1: answered(1, 1, 1, 0)}, exam.params))
    assert {row.seed for row in rows if row.system == "reference"} == {None}
    gains = {(row.system, row.metric): row.value for row in rows if "gain" in row.metric}
    assert gains == {
        ("von_mises_fisher", "gain_over_free"): -0.75,
        ("difference", "gain_over_free"): -0.5,
        ("difference", "gain_over_von_mises_fisher"): 0.25,
        ("free", "gain_over_free"): -0.75,
        ("reference", "gain_over_free"): -0.25,
    }
    assert {row.value for row in rows if row[:3] == ("reference", "typos", "success_at_10")} == {
        0.5
    }


def test_no_reference_model_says_what_to_run(workspace: Path) -> None:
    own = Workspace.read("sample")
    assert own.model("typos", 1) == REFERENCE
    with pytest.raises(FileNotFoundError, match="make reproduce"):
        own.model("synonyms", 1)


def test_networks_into_another_space_are_others(exam: Exam, tmp_path: Path) -> None:
    """Only where the loss reads it."""
    settings = systems(exam.params, TUNED, 1)
    one = networks(tmp_path / "kept", REFERENCE)
    other = networks(one.kept, one.outcome(Job("", settings["free"])).folder)
    for system, same in (("free", True), ("projection", False)):
        job = Job(system, settings[system])
        assert (one.outcome(job).folder == other.outcome(job).folder) == same


def test_tiny_run(
    workspace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Two losses and `free`; run again nothing is trained."""
    frozen = {"kind": "frozen_margin", "negatives": "projection"}
    compared = {"von_mises_fisher": {"kind": "von_mises_fisher"}, "projection": frozen}
    monkeypatch.setattr(frozen_space, "COMPARED", compared)
    monkeypatch.setattr(frozen_space, "FROZEN", ("projection",))
    monkeypatch.setitem(study("frozen_space").config, "tuned", {"sample": TUNED})
    options = f"--steps 2 --seeds 2 --processes 1 --kept {tmp_path}/k --results {tmp_path}"
    measure(study("frozen_space"), options.split())
    assert "step 2/2" in capsys.readouterr().out
    rows = read_rows(tmp_path / "frozen_space.csv")
    every = ("von_mises_fisher", "projection", "free")
    assert {row["system"] for row in rows} == {*every, "reference"}
    success = {
        (row["test"], row["seed"])
        for row in rows
        if (row["system"], row["metric"]) == ("projection", "success_at_10")
    }
    tests = {"typos", "composition", "extra_words", "heldout_alias", "annotations", "valid"}
    assert {test for test, _ in success} == tests
    assert {seed for _, seed in success} == {"1", "2", ""}
    measure(study("frozen_space"), options.split())
    assert "step 2/2" not in capsys.readouterr().out
