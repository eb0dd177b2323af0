"""The study of frozen spaces on a toy: values by hand, what is compared with what, a tiny run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from frames_of import queries_of
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.__main__ import measure
from benchmarks.results import read_rows
from benchmarks.studies.frozen_space import measure as frozen_space
from benchmarks.studies.frozen_space.measure import beside, grids, quality, systems
from benchmarks.studies.frozen_space.spaces import METRICS, SIMILARITIES, in_space, values
from benchmarks.study import study
from benchmarks.title_networks import TitleNetworks
from benchmarks.tuning import TRIALS, Job, bounded
from benchmarks.workspace import Exam, Workspace
from models.answer.index import AliasIndex
from models.losses.parts.bessel import log_bessel_i_over_power
from models.network.kinds import kind_of
from tasks.params.network import training_settings
from tasks.params.whole import load_params

EARLIER = Path("data/train/1/1/model")


@pytest.fixture
def exam(workspace: Path) -> Exam:
    return Workspace.read("sample").exam()


def networks(kept: Path, earlier: Path | None = None) -> TitleNetworks:
    return TitleNetworks(kept, 1, Workspace.read("sample").pairs("3"), earlier)


def test_values_by_hand(workspace: Path) -> None:
    """Three occupations, baker of two aliases; queries by their cosines to the four aliases.

    right: baker .9, the nearest of all. wrong: the nearest .8 is cook's, baker's best is .5, third
    after nurse's .6. tied: cook and nurse at .7, one of them right: ½ at 1, all at 2. unknown: its
    occupation has no alias, so it is a miss and of neither kind.
    """
    titles = ["baker", "bread baker", "cook", "nurse"]
    cosines = {
        "right": ("b", [0.9, 0.2, 0.3, 0.1]),
        "wrong": ("b", [0.4, 0.5, 0.8, 0.6]),
        "tied": ("c", [0.1, 0.0, 0.7, 0.7]),
        "unknown": ("x", [0.1, 0.2, 0.3, 0.4]),
    }
    rows = [(name, "typos", "test", name, [own], 1, "typo") for name, (own, _) in cosines.items()]
    params, index = load_params(workspace / "params.yaml"), AliasIndex.of(titles, list("bbcn"))
    exam = Exam(params, index, queries_of(rows))

    def similarities(queries: Sequence[str]) -> np.ndarray:
        return np.array([cosines[query][1] for query in queries], np.float32)

    made = values(similarities, exam)
    assert made.columns == ["test", "query_id", *METRICS]
    expected = {
        "success_at_1": [1, 0, 0.5, 0],
        "success_at_2": [1, 0, 1, 0],
        "success_at_5": [1, 1, 1, 0],
        "success_at_10": [1, 1, 1, 0],
        "nearest_if_right": [0.9, None, 0.7, None],
        "nearest_if_wrong": [None, 0.8, None, None],
        "gold_if_wrong": [None, 0.5, None, None],
    }
    for name, numbers in expected.items():
        assert made[name].to_list() == [
            None if number is None else pytest.approx(number) for number in numbers
        ], name


def test_stored_embeddings_are_the_earlier_models(exam: Exam, tmp_path: Path) -> None:
    """The earlier model meets them as its own; another network does not."""
    titles = exam.index.titles
    stored, own = in_space(EARLIER, EARLIER, titles), exam.network(EARLIER)
    np.testing.assert_allclose(stored(titles), own(titles), atol=1e-6)
    np.testing.assert_allclose(np.diag(stored(titles)), 1, atol=1e-5)
    settings = bounded(training_settings(exam.params.network, 9), 1, 9)
    other = networks(tmp_path).outcome(Job("other", settings)).folder
    assert np.diag(in_space(other, EARLIER, titles)(titles)).max() < 0.999


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


def test_every_system_has_as_many_trials(exam: Exam) -> None:
    made = [trial for grid in grids(exam.params, 12) for trial in grid.trials()]
    every = systems(exam.params)
    assert every["free"] == {"kind": exam.params.train.loss.kind}
    assert list(every) == list(dict.fromkeys(trial.system for trial in made))
    assert set(Counter(trial.system for trial in made).values()) == {TRIALS}
    frozen = {trial.system for trial in made if trial.settings.loss.needs_targets}
    assert frozen == {"von_mises_fisher", *frozen_space.FROZEN}
    own = training_settings(exam.params.network, 1).encoder
    assert all(trial.settings.encoder == own for trial in made)
    for trial in made:
        changes, loss = every[trial.system], trial.settings.loss
        name, _ = frozen_space.VARIED[changes["kind"]]
        rate = f"learning_rate={trial.settings.learning_rate:g}"
        assert trial.name == f"{rate},{name}={getattr(loss, name):g}"
        assert kind_of(loss) == changes["kind"]
        if "negatives" in changes:
            assert vars(loss)["negatives"] == trial.system


def answered(*right: float) -> pl.DataFrame:
    """Four queries of one test; similarities are the same for all."""
    columns = {"test": "typos", "query_id": [f"q{k}" for k in range(len(right))]}
    frame = pl.DataFrame(columns).with_columns(
        *(pl.Series(name, right) for name in METRICS if name not in SIMILARITIES),
        *(pl.lit(0.5).alias(name) for name in SIMILARITIES),
    )
    return frame.select("test", "query_id", *METRICS)


def test_what_is_compared_with_what_by_hand(exam: Exam) -> None:
    """free: none of 4 stored, 3 of 4 in its own index. earlier: 2 of 4. difference: 1 and 4 of 4.

    With the stored index `difference` lacks 1/4 - 3/4 of free's own and 1/4 - 2/4 of the earlier
    model; with its own it gains 1/4 and 1/2. von Mises-Fisher: 0 of 4, and 2 of 4.
    """
    answers = {
        "von_mises_fisher": {1: beside(answered(0, 0, 0, 0), answered(1, 1, 0, 0))},
        "difference": {1: beside(answered(1, 0, 0, 0), answered(1, 1, 1, 1))},
        "free": {1: beside(answered(0, 0, 0, 0), answered(1, 1, 1, 0))},
    }
    rows = list(quality(answers, {1: answered(1, 1, 0, 0)}, exam))
    pooled = {(row.system, row.test, row.metric): row.value for row in rows if row.seed is None}
    assert {row.seed for row in rows if row.system == "earlier"} == {None}
    stored, own = "typos", "own_index/typos"
    assert pooled["difference", stored, "gain_over_free"] == -0.5
    assert pooled["difference", own, "gain_over_free"] == 0.25
    assert pooled["difference", stored, "gain_over_earlier"] == -0.25
    assert pooled["difference", own, "gain_over_earlier"] == 0.5
    assert pooled["difference", stored, "gain_over_von_mises_fisher"] == 0.25
    assert pooled["difference", own, "gain_over_von_mises_fisher"] == 0.5
    assert ("free", own, "gain_over_von_mises_fisher") not in pooled
    assert pooled["free", stored, "gain_over_free"] == -0.75
    assert ("free", own, "gain_over_free") not in pooled
    assert pooled["free", own, "gain_over_earlier"] == 0.25
    assert pooled["earlier", stored, "gain_over_free"] == -0.25
    assert pooled["earlier", stored, "success_at_2"] == 0.5
    assert pooled["difference", stored, "gold_if_wrong"] == 0.5
    assert pooled["free", own, "gold_if_wrong"] == 0.5
    assert not [key for key in pooled if key[:2] == ("earlier", own)]


def test_no_earlier_model_says_what_to_run(workspace: Path) -> None:
    own = Workspace.read("sample")
    assert own.model("1", 1) == EARLIER
    with pytest.raises(FileNotFoundError, match="make reproduce"):
        own.model("2", 1)


def test_networks_into_another_space_are_others(exam: Exam, tmp_path: Path) -> None:
    """Only where the loss reads it."""
    settings = {grid.system: grid.base for grid in grids(exam.params, 1)}
    one = networks(tmp_path / "kept", EARLIER)
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
    """Two losses and `free`, one rate; names are explained; run again nothing is trained."""
    for name, values_of in (
        ("COMPARED", {"von_mises_fisher": {"kind": "von_mises_fisher"}}),
        ("FROZEN", ("projection",)),
        ("RATES", (0.01,)),
    ):
        monkeypatch.setattr(frozen_space, name, values_of)
    projection = {"kind": "frozen_margin", "negatives": "projection"}
    frozen_space.COMPARED["projection"] = projection
    options = f"--trial-steps 1 --steps 2 --seeds 2 --repeats 1 --processes 1 --kept {tmp_path}/k"
    measure(study("frozen_space"), options.split(), tmp_path)
    assert "step 2/2" in capsys.readouterr().out
    rows = read_rows(tmp_path / "frozen_space.csv")
    assert list(study("frozen_space").meanings(rows))
    every = ("von_mises_fisher", "projection", "free")
    assert {row["system"] for row in rows} == {*every, "earlier"}
    speed = {(row["system"], row["test"]) for row in rows if "per_second" in row["metric"]}
    assert speed == {(system, test) for system in every for test in ("loss_alone", "training")}
    success = {
        (row["test"], row["seed"])
        for row in rows
        if (row["system"], row["metric"]) == ("projection", "success_at_2")
    }
    tests = {"typos", "composition", "extra_words", "heldout_alias", "annotations", "valid"}
    assert {test for test, _ in success} == tests | {f"own_index/{test}" for test in tests}
    assert {seed for _, seed in success} == {"1", "2", ""}
    measure(study("frozen_space"), options.split(), tmp_path)
    assert "step 2/2" not in capsys.readouterr().out
