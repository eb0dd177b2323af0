"""A loss with levels against a loop, and how far off mistakes are, on a toy with a hierarchy."""

from __future__ import annotations

import math
from pathlib import Path
from shutil import copytree

import polars as pl
import pytest
import torch
from toy_workspace import JOBS

from benchmarks.__main__ import measure
from benchmarks.results import read_rows
from benchmarks.studies.hierarchy.levels import Levels, together
from benchmarks.studies.hierarchy.measure import answers, read_codes
from benchmarks.study import study
from benchmarks.workspace import Workspace
from models.losses.supervised_contrastive import SupervisedContrastiveSettings
from tasks.files.frames import write_frame
from tasks.files.schemas import OCCUPATIONS, STRINGS

CODES = {
    "o0": ["4", "41"],
    "o1": ["5", "51"],
    "o2": ["5", "51"],
    "o3": ["5", "52"],
    "o4": ["8", "83"],
}


@pytest.fixture
def there(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    copytree(toy, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    rows = [(name, job, codes) for (name, codes), job in zip(CODES.items(), JOBS, strict=True)]
    frame = pl.DataFrame(rows, schema=dict(OCCUPATIONS), orient="row")
    write_frame(frame, Path("data/ingest/occupations.parquet"), OCCUPATIONS)
    return Workspace.read("sample")


def strings_of(*held: list[str]) -> pl.DataFrame:
    rows = [(number, f"t{number}", own, "alias") for number, own in enumerate(held)]
    return pl.DataFrame(rows, schema=dict(STRINGS), orient="row")


def test_who_is_together() -> None:
    """A title of two groups goes with both; one of none is neither with nor apart from any."""
    batch = together(torch.tensor([[0, -1], [0, 1], [1, -1], [-1, -1]]))
    pairs = set(zip(batch.left.tolist(), batch.right.tolist(), strict=True))
    assert pairs == {(0, 1), (1, 2)}
    assert batch.apart.nonzero().tolist() == [[0, 2], [2, 0]]


def test_the_loss_is_the_papers_sum_over_levels() -> None:
    """Written as a loop: the mean over levels of SupCon, a positive sharing the level's group."""
    held = [["o0"], ["o1"], ["o2"], ["o3"], ["o1"], ["o4"], [], ["o3"]]
    levels = Levels.of(strings_of(*held), CODES)
    embeddings = torch.randn(8, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    units = embeddings / embeddings.norm(dim=1, keepdim=True)
    by_level = []
    for level in range(2):
        group = [CODES[own[0]][level] if own else None for own in held]
        costs = []
        for one in range(8):
            if group[one] is None:
                continue
            others = [k for k in range(8) if k != one and group[k] is not None]
            alike = [k for k in others if group[k] == group[one]]
            if alike:
                total = sum(math.exp(float(units[one] @ units[k]) / 0.2) for k in others)
                terms = [float(units[one] @ units[k]) / 0.2 - math.log(total) for k in alike]
                costs.append(-sum(terms) / len(terms))
        by_level.append(sum(costs) / len(costs))
    made = levels.loss(embeddings, torch.arange(8), SupervisedContrastiveSettings(0.2))
    assert float(made) == pytest.approx(sum(by_level) / 2)


def test_a_title_of_two_occupations_has_the_groups_of_both() -> None:
    levels = Levels.of(strings_of(["o1", "o3"], ["o4"], []), CODES)
    assert [groups.shape for groups in levels.groups] == [(3, 1), (3, 2)]
    assert (levels.groups[1][2] == -1).all()


def test_how_far_off_an_answer_is(there: Workspace) -> None:
    """Of five queries a test the toy's network answers some right; the others share digits."""
    exam = there.exam()
    found = answers(exam, there.folder / "data/train/1/1/model", read_codes(there))
    assert found.columns[2:] == ["digits_1", "digits_2", "success_at_1", "digits_shared"]
    right, wrong = found.filter(success_at_1=1), found.filter(success_at_1=0)
    assert len(right) > 0 and len(wrong) > 0
    assert right["digits_shared"].null_count() == len(right)
    assert set(right["digits_2"]) == {1.0}
    assert (wrong["digits_shared"] == wrong["digits_1"] + wrong["digits_2"]).all()
    assert (found["digits_2"] <= found["digits_1"]).all()


def test_a_study_on_a_toy(there: Workspace, tmp_path: Path) -> None:
    options = "--dataset sample --weights 0.5 --seeds 2 --processes 1 --kept kept"
    params = Path("params.yaml")
    text = params.read_text(encoding="utf-8")
    params.write_text(text.replace("max_steps: 400", "max_steps: 4"), encoding="utf-8")
    measure(study("hierarchy"), options.split(), tmp_path)
    rows = read_rows(tmp_path / "hierarchy.csv")
    assert list(study("hierarchy").meanings(rows))
    assert {row["system"] for row in rows} == {"levels_0", "levels_0.5", "levels_0.5-levels_0"}
    gained = {row["metric"] for row in rows if row["metric"].startswith("gain")}
    assert gained == {"gain_digits_1", "gain_digits_2", "gain_success_at_1"}
    assert len(list(Path("kept").glob("*/history.json"))) == 4  # no network stands for another


def test_a_taxonomy_without_hierarchy(there: Workspace) -> None:
    frame = pl.read_parquet("data/ingest/occupations.parquet")
    flat = frame.with_columns(codes=pl.lit([], dtype=pl.List(pl.String)))
    write_frame(flat, Path("data/ingest/occupations.parquet"), OCCUPATIONS)
    with pytest.raises(ValueError, match="no hierarchy"):
        read_codes(there)
