"""The measuring programs on a toy: what they count, and that the two sides do the same work."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import torch
from params_of import pairs_params

from benchmarks.results import Row, machine, processor
from benchmarks.studies.speed import measure as speed
from benchmarks.studies.speed import pairs
from benchmarks.studies.speed.measure import size_name
from benchmarks.studies.speed.network import (
    gigaflop_per_title,
    network_works,
    onnx_work,
    useful_flops,
)
from benchmarks.studies.speed.plain_lstm import PlainTraining
from benchmarks.timing import Work, alternate, peak_mib
from benchmarks.title_networks import Inputs
from benchmarks.workspace import Workspace
from models.encoders.recurrent import RecurrentSettings
from models.losses.contrastive import ContrastiveSettings
from models.network.kinds import fit_featurizer
from models.training.batches import Pairs
from models.training.run import TrainSettings
from models.training.strings import Strings

TITLES = ["baker", "bread baker", "cook", "line cook", "bakr", "cok"]


SETTINGS = TrainSettings(
    seed=1,
    encoder=RecurrentSettings("fast", 12, 4, 1, 3, 4, 0.2, 0.0),
    loss=ContrastiveSettings("hinge", 0.2, 0.25, 4.0, "hardest", 2),
    batch_pairs=2,
    learning_rate=0.01,
    schedule="constant",
    l2=0.0,
    clip_norm=1.0,
    max_steps=2,
    evaluate_every=1,
    patience=5,
)


@pytest.fixture
def inputs() -> Inputs:
    occupations = torch.tensor([[0], [0], [1], [1], [0], [1]])
    strings = Strings(TITLES, occupations, torch.arange(4), torch.tensor([4, 5]))
    similar = torch.tensor([[0, 1], [2, 3], [1, 0]], dtype=torch.int32)
    return Inputs(strings, Pairs(similar, similar[:0]), fit_featurizer(TITLES, SETTINGS.encoder))


def test_ours_and_the_others_do_the_same_work(inputs: Inputs) -> None:
    """Training counts distinct strings, encoding the six titles, the plain one a fifth of them."""
    works = [*network_works(inputs, SETTINGS, steps=1, titles=6), onnx_work(inputs, SETTINGS, 6)]
    amounts = {(work.system, work.test): work.run() for work in works}
    assert 2 <= amounts.pop(("rolecall", "training")) <= 4
    assert amounts == {
        ("plain_lstm", "training"): 4,
        ("rolecall", "encoding"): 6,
        ("plain_lstm", "encoding"): 1,
        ("onnx", "encoding"): 6,
    }


def test_useful_work_is_that_of_the_titles(inputs: Inputs) -> None:
    """Training costs three times what encoding does; other rows give none."""
    rows = [
        Row("s", test, "titles_per_second", 2.0, 1, 1.0, 3.0) for test in ("training", "encoding")
    ]
    other = rows[0]._replace(metric="gigaflop_per_second")
    training, encoding = useful_flops(inputs, SETTINGS.encoder, [*rows, other], 6)
    assert training.metric == encoding.metric == "gigaflop_per_second"
    assert training.value == pytest.approx(3 * encoding.value)
    length = sum(map(len, TITLES)) / 6
    assert encoding.value == pytest.approx(2 * gigaflop_per_title(SETTINGS.encoder, length))


def test_plain_lstm_learns_from_padded_pairs(inputs: Inputs) -> None:
    plain = PlainTraining(inputs, SETTINGS)
    before = plain.encoder.dense.weight.detach().clone()
    assert [plain.step() for _ in range(3)] == [4, 2, 4]  # three pairs are batches of two and one
    assert not torch.equal(plain.encoder.dense.weight, before)
    left, right, similar = plain.pairs[0]
    assert left.shape == right.shape == (12,)
    assert similar.item() in (1.0, -1.0)
    assert plain.embed([0, 1, 2], 2).shape == (3, 4)


def test_gigaflop_of_a_title() -> None:
    """2 ways, 2 operations, 4 gates: 2·2·4·3·((4 + 3) + (6 + 3)) = 768 a character, two layers."""
    settings = RecurrentSettings("fast", 12, 4, 2, 3, 4, 0.0, 0.0)
    assert gigaflop_per_title(settings, 10) == pytest.approx(7680e-9)


def test_works_alternate_and_the_first_round_is_left_out() -> None:
    called: list[str] = []
    works = [
        Work(name, "t", "m", lambda name=name: float(called.append(name) or 1)) for name in "ab"
    ]
    rows = alternate(works, 2)
    assert "".join(called) == "ababab"
    assert [row.system for row in rows] == ["a", "b"]
    assert all(row.low <= row.value <= row.high for row in rows)  # type: ignore[operator]
    assert {row.n for row in rows} == {2}


@pytest.mark.parametrize("system", pairs.SYSTEMS)
def test_every_way_makes_true_pairs(system: str) -> None:
    """Four of five rows dissimilar; `similar` holds exactly where an occupation is shared."""
    occupations = [["a"], ["a"], ["a", "b"], ["b"], *([[f"c{k}"] for k in range(30)])]
    strings = pl.DataFrame(
        {
            "string_id": pl.Series(range(34), dtype=pl.UInt32),
            "title": [f"t{k}" for k in range(34)],
            "occupation_ids": occupations,
            "role": ["alias"] * 34,
        }
    )
    made = pa.concat_tables(pairs.SYSTEMS[system](strings, 40, pairs_params(rounds=1)))
    assert len(made) == 40
    rows = made.to_pylist()
    for row in rows:
        shared = set(occupations[row["anchor_id"]]) & set(occupations[row["other_id"]])
        assert bool(shared) == row["similar"]
        assert row["anchor_id"] != row["other_id"]


def test_peak_and_names() -> None:
    before = peak_mib()
    assert np.ones(16 * 2**20).sum() and peak_mib() >= before
    assert (size_name(1_250_000), size_name(10_000_000)) == ("pairs_1.25m", "pairs_10m")


def test_the_machine_is_named_without_a_path(tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: AMD EPYC\n")
    assert processor(tmp_path / "cpuinfo") == "AMD EPYC"
    assert processor(tmp_path / "none")
    assert machine().count(", ") == 2


def test_pairs_are_made_at_every_size_and_the_obvious_ways_at_few(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two pairs in half a second are 4 a second; a cross join is made of the sample alone."""
    monkeypatch.chdir(tmp_path)
    copytree(toy, "here")
    monkeypatch.chdir("here")
    Path("data/pairs/0").symlink_to(toy / "data/pairs/3")
    figures = {"pairs": 2.0, "seconds": 0.5, "peak_mib": 9.0}
    monkeypatch.setattr(speed, "fresh", lambda *_: figures)
    rows = list(speed.pair_speeds(Workspace.read("sample"), [1_000_000, 2_000_000, 3_000_000], 1))
    values = {(row.system, row.test): row.value for row in rows if "pairs_per" in row.metric}
    assert values == dict.fromkeys(
        [
            *(("rolecall", f"pairs_{million}m") for million in (1, 2, 3)),
            *(("python_loop", f"pairs_{million}m") for million in (1, 2)),
            ("write_only", "pairs_3m"),
            ("polars_cross_join", "pairs_all"),
        ],
        4.0,
    )


@pytest.mark.parametrize("system", ["rolecall", "write_only"])
def test_what_a_process_measures(system: str, toy: Path, tmp_path: Path) -> None:
    made = pairs.measure(system, toy / "data/pairs/3/strings.parquet", 40, tmp_path)
    assert made["pairs"] == 40 and made["seconds"] > 0
