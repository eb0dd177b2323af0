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
from benchmarks.results import read_rows
from benchmarks.studies.frozen_space import measure as frozen_space
from benchmarks.studies.frozen_space.measure import METRICS, beside, in_space, quality, systems
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
    """free: none of 4 stored, 3 of 4 in its own index. reference: 2 of 4. difference: 1 and 4 of 4.

    With the stored index `difference` lacks 1/4 - 3/4 of free's own and 1/4 - 2/4 of the reference
    model; with its own it gains 1/4 and 1/2. von Mises-Fisher: 0 of 4, and 2 of 4.
    """
    answers = {
        "von_mises_fisher": {1: beside(answered(0, 0, 0, 0), answered(1, 1, 0, 0))},
        "difference": {1: beside(answered(1, 0, 0, 0), answered(1, 1, 1, 1))},
        "free": {1: beside(answered(0, 0, 0, 0), answered(1, 1, 1, 0))},
    }
    rows = list(quality(answers, {1: answered(1, 1, 0, 0)}, exam))
    pooled = {(row.system, row.test, row.metric): row.value for row in rows if row.seed is None}
    assert {row.seed for row in rows if row.system == "reference"} == {None}
    stored, own = "typos", "own_index/typos"
    assert pooled["difference", stored, "gain_over_free"] == -0.5
    assert pooled["difference", own, "gain_over_free"] == 0.25
    assert pooled["difference", stored, "gain_over_reference"] == -0.25
    assert pooled["difference", own, "gain_over_reference"] == 0.5
    assert pooled["difference", stored, "gain_over_von_mises_fisher"] == 0.25
    assert pooled["difference", own, "gain_over_von_mises_fisher"] == 0.5
    assert ("free", own, "gain_over_von_mises_fisher") not in pooled
    assert pooled["free", stored, "gain_over_free"] == -0.75
    assert ("free", own, "gain_over_free") not in pooled
    assert pooled["free", own, "gain_over_reference"] == 0.25
    assert pooled["reference", stored, "gain_over_free"] == -0.25
    assert pooled["reference", stored, "success_at_10"] == 0.5
    assert not [key for key in pooled if key[:2] == ("reference", own)]


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
    assert {test for test, _ in success} == tests | {f"own_index/{test}" for test in tests}
    assert {seed for _, seed in success} == {"1", "2", ""}
    measure(study("frozen_space"), options.split())
    assert "step 2/2" not in capsys.readouterr().out
