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
from hypothesis import given
from hypothesis import strategies as st
from study_workspace import make_workspace

from benchmarks import frozen_space
from benchmarks.frozen_space import beside, earlier_model, quality, systems, trials
from benchmarks.frozen_space_measures import METRICS, SIMILARITIES, in_own_space, in_space, values
from benchmarks.names import unnamed
from benchmarks.network_asked import Asked
from benchmarks.network_training import Job, Place, bounded, network
from benchmarks.render import page
from benchmarks.results_file import Row, read_rows
from benchmarks.tuning import TRIALS
from models.kinds import kind_of
from models.losses._bessel import log_bessel_i_over_power
from tasks.alias_index import AliasIndex
from tasks.network_params import training_settings
from tasks.params import load_params
from tasks.schemas import QUERIES

EARLIER = Path("data/train/1/1/model")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_workspace(tmp_path_factory.mktemp("frozen"))


@pytest.fixture
def asked(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    monkeypatch.chdir(workspace)
    return Asked.read("sample")


def test_values_by_hand(workspace: Path) -> None:
    """Three occupations, baker of two aliases; queries by their cosines to the four aliases.

    right: baker .9, the nearest of all. wrong: the nearest .8 is cook's, baker's best is .5, third
    after nurse's .6. tied: cook and nurse at .7, one of them right: ½ at 1, all at 2. unknown: its
    occupation has no alias, so it is a miss and of neither kind.
    """
    titles = ["baker", "bread baker", "cook", "nurse"]
    aliases = pl.DataFrame({"occupation_id": ["b", "b", "c", "n"], "title": titles})
    cosines = {
        "right": ("b", [0.9, 0.2, 0.3, 0.1]),
        "wrong": ("b", [0.4, 0.5, 0.8, 0.6]),
        "tied": ("c", [0.1, 0.0, 0.7, 0.7]),
        "unknown": ("x", [0.1, 0.2, 0.3, 0.4]),
    }
    rows = [(name, "typos", "test", name, [own], 1, "typo") for name, (own, _) in cosines.items()]
    queries = pl.DataFrame(rows, schema=dict(QUERIES), orient="row")
    params, index = load_params(workspace / "params.yaml"), AliasIndex.of(aliases)
    asked = Asked("sample", workspace, params, index, queries)

    def similarities(queries: Sequence[str]) -> np.ndarray:
        return np.array([cosines[query][1] for query in queries], np.float32)

    found = values(similarities, asked)
    assert found.columns == ["test", "query_id", *METRICS]
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
        assert found[name].to_list() == [
            None if number is None else pytest.approx(number) for number in numbers
        ], name


def test_stored_embeddings_are_the_earlier_models(asked: Asked, tmp_path: Path) -> None:
    """The earlier model meets them as its own; another network does not."""
    titles = asked.index.titles
    stored, own = in_space(EARLIER, EARLIER, titles), in_own_space(EARLIER, titles)
    np.testing.assert_allclose(stored(titles), own(titles), atol=1e-6)
    np.testing.assert_allclose(np.diag(stored(titles)), 1, atol=1e-5)
    place = Place(asked.pairs("3"), tmp_path)
    other = network(Job("other", bounded(training_settings(asked.params, 9), 1, 9)), place)
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


def test_every_system_has_as_many_trials(asked: Asked) -> None:
    found = list(trials(asked.params, 12))
    every = systems(asked.params)
    assert every["free"] == {"kind": asked.params.train.loss.kind}
    assert list(every) == list(dict.fromkeys(trial.system for trial in found))
    assert set(Counter(trial.system for trial in found).values()) == {6}
    assert TRIALS == 6
    frozen = {trial.system for trial in found if trial.settings.loss.needs_targets}
    assert frozen == {"von_mises_fisher", *frozen_space.FROZEN}
    assert {trial.settings.encoder for trial in found} == {
        training_settings(asked.params, 1).encoder
    }
    for trial in found:
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


def test_what_is_compared_with_what_by_hand(asked: Asked) -> None:
    """free: none of 4 stored, 3 of 4 in its own index. earlier: 2 of 4. difference: 1 and 4 of 4.

    With the stored index `difference` lacks 1/4 - 3/4 of free's own and 1/4 - 2/4 of the earlier
    model; with its own it gains 1/4 and 1/2. von Mises-Fisher: 0 of 4, and 2 of 4.
    """
    networks = {
        "von_mises_fisher": {1: beside(answered(0, 0, 0, 0), answered(1, 1, 0, 0))},
        "difference": {1: beside(answered(1, 0, 0, 0), answered(1, 1, 1, 1))},
        "free": {1: beside(answered(0, 0, 0, 0), answered(1, 1, 1, 0))},
    }
    rows = list(quality(networks, {1: answered(1, 1, 0, 0)}, asked))
    found = {
        (row["system"], row["test"], row["metric"]): row["value"]
        for row in rows
        if row["seed"] is None
    }
    stored, own = "typos", "own_index/typos"
    assert found["difference", stored, "gain_over_free"] == -0.5
    assert found["difference", own, "gain_over_free"] == 0.25
    assert found["difference", stored, "gain_over_earlier"] == -0.25
    assert found["difference", own, "gain_over_earlier"] == 0.5
    assert found["difference", stored, "gain_over_von_mises_fisher"] == 0.25
    assert found["difference", own, "gain_over_von_mises_fisher"] == 0.5
    assert ("free", own, "gain_over_von_mises_fisher") not in found
    assert found["free", stored, "gain_over_free"] == -0.75
    assert ("free", own, "gain_over_free") not in found
    assert found["free", own, "gain_over_earlier"] == 0.25
    assert found["earlier", stored, "gain_over_free"] == -0.25
    assert found["earlier", stored, "success_at_2"] == 0.5
    assert found["difference", stored, "gold_if_wrong"] == 0.5
    assert found["free", own, "gold_if_wrong"] == 0.5
    assert not [key for key in found if key[:2] == ("earlier", own)]


def test_no_earlier_model_says_what_to_run(asked: Asked) -> None:
    assert earlier_model(asked, "1") == EARLIER
    with pytest.raises(FileNotFoundError, match="make reproduce"):
        earlier_model(asked, "2")


def test_networks_into_another_space_are_others(asked: Asked, tmp_path: Path) -> None:
    """Only where the loss reads it."""
    tried = {trial.system: trial.settings for trial in trials(asked.params, 1)}
    before = Place(asked.pairs("3"), tmp_path / "kept", EARLIER)
    other = Place(before.pairs, before.kept, network(Job("", tried["free"]), before))
    for system, same in (("free", True), ("projection", False)):
        job = Job(system, tried[system])
        assert (network(job, before) == network(job, other)) == same


def test_tiny_run(asked: Asked, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names are explained, tables rendered; run again nothing is trained."""
    short = f"--trial-steps 1 --steps 2 --seeds 2 --repeats 1 --processes 1 --kept {tmp_path}/kept"
    short += " --dataset sample"
    frozen_space.main(short.split(), tmp_path)
    assert "step 2/2" in capsys.readouterr().out
    rows: list[Row] = [dict(row) for row in read_rows(tmp_path / "frozen_space.csv")]
    every = systems(asked.params)
    assert unnamed(rows) == set()
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
    text = page(tmp_path)
    for title in ("success@1 among the stored embeddings", "Table 2 of the paper"):
        assert f"### sample: {title}" in text
    frozen_space.main(short.split(), tmp_path)
    assert "step 2/2" not in capsys.readouterr().out
