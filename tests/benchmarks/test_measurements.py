"""The measuring programs on a toy: what they count, and that the two sides do the same work."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import torch

from benchmarks import dropout, machine, pair_speed
from benchmarks.network_speed import Work, alternate, gigaflop_per_title
from benchmarks.pipeline import table_rows, workspaces
from benchmarks.plain_lstm import PlainTraining
from benchmarks.speed import size_name
from benchmarks.training_inputs import TrainingInputs
from models.batches import Pairs
from models.encoders.recurrent import RecurrentSettings
from models.kinds import fit_featurizer
from models.losses.contrastive import ContrastiveSettings
from models.run import TrainSettings
from models.strings import Strings
from tasks.sections import PairsParams, SharesParams

TITLES = ["baker", "bread baker", "cook", "line cook", "bakr", "cok"]


@pytest.fixture
def inputs() -> TrainingInputs:
    occupations = torch.tensor([[0], [0], [1], [1], [0], [1]])
    strings = Strings(TITLES, occupations, torch.arange(4), torch.tensor([4, 5]))
    similar = torch.tensor([[0, 1], [2, 3], [1, 0]], dtype=torch.int32)
    settings = TrainSettings(
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
    featurizer = fit_featurizer(TITLES, settings.encoder)
    return TrainingInputs(strings, Pairs(similar, similar[:0]), featurizer, settings)


def test_dropout_runs_start_equal_and_give_both_moments(inputs: TrainingInputs) -> None:
    runs = {system: dropout.start(inputs, system, 3) for system in dropout.SYSTEMS}
    first = runs["none"].encoder.state_dict()
    for run in runs.values():
        for name, weight in run.encoder.state_dict().items():
            torch.testing.assert_close(weight, first[name])
    assert runs["none"].encoder.settings.dropout_recurrent == 0.0
    assert isinstance(runs["each_step"].encoder, dropout.StepMaskEncoder)
    for run in runs.values():
        found = list(dropout.moments(run, steps=2, seconds=0.0))
        assert [moment.test for moment in found] == ["valid_after_seconds", "valid_after_steps"]
        assert [moment.steps for moment in found] == [1, 2]
        assert all(2 <= moment.titles / moment.steps <= 4 for moment in found)


def test_dropout_rows_have_intervals(inputs: TrainingInputs) -> None:
    rows = dropout.rows(inputs, "sample", steps=1, seconds=0.0, seeds=1)
    assert len(rows) == 3 * 2 * 4
    assert {row["n"] for row in rows} == {2}
    shares = [row for row in rows if row["metric"] == "success_at_1"]
    assert all(row["low"] <= row["value"] <= row["high"] for row in shares)


def test_plain_lstm_learns_from_padded_pairs(inputs: TrainingInputs) -> None:
    plain = PlainTraining(inputs)
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
    speeds = alternate(works, 2)
    assert "".join(called) == "ababab"
    assert [speed.system for speed in speeds] == ["a", "b"]
    assert all(speed.low <= speed.value <= speed.high for speed in speeds)
    assert {speed.repeats for speed in speeds} == {2}


@pytest.mark.parametrize("system", pair_speed.SYSTEMS)
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
    params = PairsParams(
        rounds=1,
        dissimilar_per_similar=4,
        shares=SharesParams(typo=0.5, synonym=0.3, extra_words=0.3, feedback=0.2),
        outranked="dropped",
        row_group=1024,
    )
    made = pa.concat_tables(pair_speed.SYSTEMS[system](strings, 40, params))
    assert len(made) == 40
    rows = made.to_pylist()
    for row in rows:
        shared = set(occupations[row["anchor_id"]]) & set(occupations[row["other_id"]])
        assert bool(shared) == row["similar"]
        assert row["anchor_id"] != row["other_id"]


def test_peak_and_names() -> None:
    before = pair_speed.peak_mib()
    assert np.ones(16 * 2**20).sum() and pair_speed.peak_mib() >= before
    assert (size_name(1_250_000), size_name(10_000_000)) == ("pairs_1.25m", "pairs_10m")


def test_machine_and_command_hold_no_path(tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: AMD EPYC\n")
    assert machine.processor(tmp_path / "cpuinfo") == "AMD EPYC"
    assert machine.processor(tmp_path / "none")
    assert machine.machine().count(", ") == 2
    assert machine.command("speed", data=True, pair_repeats=3, pairs=[1, 2]) == (
        "ROLECALL_DATA=$ROLECALL_DATA python -m benchmarks.speed --pair-repeats 3 --pairs 1 2"
    )


HEAD = "system,test,slice,metric,value,low,high,n\n"
LEXICAL = "ngram,typos,all,mrr,0.5,0.4,0.6,30\n"
NETWORK = """untrained,typos,all,mrr,0.6,0.5,0.7,30
{stage},typos,all,mrr,0.7,0.6,0.8,30
{stage},typos,size:1,mrr,0.2,,,3
"""


def evaluated(root: Path, stages: tuple[str, ...], seeds: tuple[int, ...]) -> None:
    """Tables of a workspace: lexical once, a network's for each number and seed."""
    text = (Path(__file__).parents[2] / "params.yaml").read_text(encoding="utf-8")
    (root / "params.yaml").write_text(text, encoding="utf-8")
    tables = {root / "data/lexical/table.csv": HEAD + LEXICAL}
    for stage in stages:
        for seed in seeds:
            path = root / f"data/evaluate/{stage}/{seed}/table.csv"
            tables[path] = HEAD + NETWORK.format(stage=stage)
    for path, lines in tables.items():
        path.parent.mkdir(parents=True)
        path.write_text(lines)


def test_tables_of_all_stages_with_baselines_once(tmp_path: Path) -> None:
    """Of seeds 1 and 2 the one that serves; the untrained network of the stage that serves."""
    evaluated(tmp_path, ("0", "4c"), (1, 2))
    assert workspaces(tmp_path) == {"sample": tmp_path}
    rows = table_rows("sample", tmp_path)
    assert [(row["system"], row["test"]) for row in rows] == [
        ("ngram", "typos"),
        ("0", "typos"),
        ("0", "typos/size:1"),
        ("untrained", "typos"),
        ("4c", "typos"),
        ("4c", "typos/size:1"),
    ]
    assert {row["seed"] for row in rows} == {1}
    assert {row["low"] for row in rows if "/" in row["test"]} == {None}
    esco = table_rows("esco", tmp_path)[0]["command"]
    assert esco.startswith("ROLECALL_DATA=$ROLECALL_DATA make retrain PROFILE=esco && ")


def test_the_stage_that_serves_must_be_there(tmp_path: Path) -> None:
    evaluated(tmp_path, ("0",), (1,))
    with pytest.raises(FileNotFoundError, match=r"evaluate/4c/1/table\.csv is missing"):
        table_rows("sample", tmp_path)


def test_a_step_encodes_the_rejected_strings_too(inputs: TrainingInputs) -> None:
    """Two similar pairs of three; a rejection of strings 4 and 5, which are in none of them."""
    rejected = torch.tensor([[4, 5]], dtype=torch.int32)
    judged = replace(inputs, pairs=replace(inputs.pairs, dissimilar=rejected))
    plain, with_rejected = (dropout.start(one, "none", 1) for one in (inputs, judged))
    assert dropout.encoded(with_rejected, 0) == dropout.encoded(plain, 0) + 2
