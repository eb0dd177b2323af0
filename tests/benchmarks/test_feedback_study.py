"""Training of variants on a toy workspace, and the figures of two models' answers by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch

from benchmarks import feedback
from benchmarks.feedback_measures import Asked, compared, figures
from benchmarks.feedback_training import Continued, Training
from benchmarks.results_file import COLUMNS, Row
from benchmarks.variant_pairs import Material
from models.checkpoints import Checkpoint
from models.model_files import load_model
from models.run import describe
from tasks.alias_index import AliasIndex
from tasks.network_params import training_settings
from tasks.pair_blocks import write_blocks
from tasks.pairs import base_pairs
from tasks.params import AllParams, load_params
from tasks.schemas import QUERIES, SCORES, STRINGS, VERDICTS
from tasks.strings_table import number

ROOT = Path(__file__).parents[2]
TITLES = [front + job for job in ("baker", "nurse", "pilot") for front in ("", "old ", "new ")]
GIVEN = [("bread", "baker", "baker", True, None), ("planes", "nurse", "nurse", False, "pilot")]


@pytest.fixture
def params() -> AllParams:
    """The defaults with a tiny network."""
    found = load_params(ROOT / "params.yaml")
    small = {"layers": 1, "hidden": 4, "dim": 4, "dim_character": 4, "max_length": 24}
    kind = found.train.encoder.kind
    encoders = found.encoders | {kind: found.encoders[kind] | small}
    changes = {"batch_pairs": 8, "evaluate_every": 3, "max_steps": 1200}
    train = found.train.model_copy(update=changes)
    return found.model_copy(update={"train": train, "encoders": encoders})


@pytest.fixture
def training(tmp_path: Path, params: AllParams) -> Training:
    """Three occupations of three titles, a right and a corrected verdict; six steps."""
    rows = [(0, title, [title.split()[-1]], "alias") for title in TITLES]
    strings = number(pl.DataFrame(rows, schema=dict(STRINGS), orient="row"))
    pairs = tmp_path / "pairs.parquet"
    write_blocks(base_pairs(strings, params.pairs, np.random.default_rng(1)), pairs)
    verdicts = pl.DataFrame(GIVEN, schema=dict(VERDICTS), orient="row")
    return Training(tmp_path, params, Material(strings, pairs, verdicts), tmp_path / "kept", 6)


def weights(folder: Path) -> torch.Tensor:
    return torch.cat([value.flatten() for value in load_model(folder)[1].state_dict().values()])


def test_a_network_is_trained_once(training: Training, capsys: pytest.CaptureFixture[str]) -> None:
    first = training.model("4c", 1)
    assert "step 6/6" in capsys.readouterr().out
    assert training.model("4c", 1) == first
    assert "step" not in capsys.readouterr().out
    others = {training.model(name, 1) for name in ("3", "4", "diluted")}
    assert len(others | {first, training.model("4c", 2)}) == 5


def test_fine_tuning_begins_with_model_3(
    training: Training, capsys: pytest.CaptureFixture[str]
) -> None:
    """A third of six steps at a third of the rate leaves the weights near those of model 3."""
    control, fresh = training.model("3", 1), training.model("4c", 1)
    capsys.readouterr()
    tuned = training.model("fine_tuned", 1)
    assert "step 2/2" in capsys.readouterr().out
    near, far = weights(tuned) - weights(control), weights(fresh) - weights(control)
    assert 0 < near.norm() < far.norm()
    assert load_model(tuned)[0] == load_model(control)[0]


def test_the_mean_lies_halfway(training: Training) -> None:
    """Between model 3 and the same network trained on, which it leaves as it is."""
    control, tuned = weights(training.model("3", 1)), weights(training.model("fine_tuned", 1))
    halfway = weights(training.model("averaged", 1))
    torch.testing.assert_close(halfway, (control + tuned) / 2)
    torch.testing.assert_close(weights(training.model("fine_tuned", 1)), tuned)


def test_settings_are_those_of_the_pipeline(training: Training) -> None:
    """But for the steps; fine-tuning ends a linear schedule: 2 of 6 steps at 0.01 / 3."""
    full, tuned = training.settings("4c", 7), training.settings("fine_tuned", 7)
    assert replace(tuned, max_steps=6, learning_rate=0.01) == full
    assert describe(full) == describe(training_settings(training.params, 7)) | {"max_steps": 6}
    assert tuned.max_steps == 2
    assert tuned.learning_rate == pytest.approx(0.01 / 3)


def test_continued_prefers_its_own_checkpoint(tmp_path: Path) -> None:
    encoder = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(encoder.parameters())
    other = {name: value + 1 for name, value in encoder.state_dict().items()}
    saved = Continued(tmp_path, "key", other)
    assert saved.load(encoder, optimizer) is None
    torch.testing.assert_close(encoder.state_dict(), other)
    torch.nn.init.zeros_(encoder.weight)
    saved.save(encoder, optimizer, Checkpoint(3, 0.5, 0, other, []))
    torch.nn.init.ones_(encoder.weight)
    progress = saved.load(encoder, optimizer)
    assert progress is not None
    assert progress.step == 3
    assert not encoder.weight.any()


def test_equal_steps_take_the_pipelines_networks(training: Training) -> None:
    """And say what to do when there are none."""
    whole = Training(training.workspace, training.params, training.material, training.kept, None)
    with pytest.raises(FileNotFoundError, match="make reproduce"):
        whole.model("3", 1)
    folder = training.workspace / "data/train/3/1/model"
    folder.mkdir(parents=True)
    assert whole.model("3", 1) == folder


QUERIED = [
    *(("typos", f"t{n}", "typo") for n in range(4)),
    *(("extra_words", f"e{n}", "label_agrees" if n < 3 else "label_differs") for n in range(4)),
    *(("annotations", f"a{n}", "input") for n in range(4)),
    *(("corrected", f"c{n}", "input") for n in range(2)),
]


def asked(params: AllParams) -> Asked:
    rows = [(name, test, "test", name, ["baker"], 1, source) for test, name, source in QUERIED]
    index = AliasIndex.of(pl.DataFrame({"occupation_id": ["baker"], "title": ["baker"]}))
    queries = pl.DataFrame(rows, schema=dict(QUERIES), orient="row")
    return Asked(params, index, queries, {"a0", "a1"})


def answered(system: str, right: str) -> pl.DataFrame:
    """Schema `SCORES`; `right` names the queries that are answered right."""
    rows = []
    for test, name, _ in QUERIED:
        value = float(name in right.split())
        rows.append((system, test, name, value, value, value, value))
    return pl.DataFrame(rows, schema=dict(SCORES), orient="row")


def by_name(rows: list[Row]) -> dict[tuple[str, str], float]:
    return {(row["test"], row["metric"]): row["value"] for row in rows}


def test_figures_by_hand(params: AllParams) -> None:
    """Of four typos three are right, of two corrected strings one; slices where sources differ."""
    found = by_name(list(figures(answered("4c", "t0 t1 t2 e0 c1"), asked(params))))
    assert found["typos", "success_at_1"] == found["typos", "mrr"] == 0.75
    assert found["extra_words/source:label_agrees", "success_at_1"] == pytest.approx(1 / 3)
    assert found["extra_words/source:label_differs", "success_at_1"] == 0
    assert found["corrected", "fix_rate"] == 0.5
    assert ("corrected", "success_at_1") not in found
    assert ("typos/source:typo", "success_at_1") not in found


def test_compared_by_hand(params: AllParams) -> None:
    """Typos 2 to 3 of 4: +1/4. Annotations a0 is mended, a2 broken: 0, 1/2 and 1/2.

    Typos get no worse anywhere, so no resample lies below 0; extra words, agreeing, lose all.
    """
    before, after = answered("3", "t0 t1 e0 e1 e2 a2 a3"), answered("x", "t0 t1 t2 a0 a3 c0")
    found = by_name(list(compared(before, after, asked(params))))
    assert found["typos", "gain_over_3"] == 0.25
    assert found["extra_words", "gain_over_3"] == -0.75
    assert found["annotations", "gain_over_3"] == 0
    assert found["corrected", "gain_over_3"] == 0.5
    assert found["typos", "non_inferior"] == 1
    assert found["extra_words/source:label_agrees", "non_inferior"] == 0
    assert found["annotations/same_occupations", "fix_rate"] == 0.5
    assert found["annotations", "side_effects"] == 0.5


@pytest.mark.parametrize("part", ["test", "valid"])
def test_rows_are_whole(part: str, params: AllParams) -> None:
    shared = feedback.common("esco", part, 5, [1])
    for row in compared(answered("3", "t0"), answered("x", "t1"), asked(params)):
        assert set({**shared, "system": "x", "seed": 1, **row}) == set(COLUMNS)
    assert shared["command"].endswith(f"--dataset esco --part {part} --seeds 1 --steps 5")
    assert "PROFILE=esco" in shared["command"]
    assert shared["experiment"] == {"test": "feedback", "valid": "feedback_valid"}[part]
