"""What is timed is the stages' own work, and copies of a taxonomy are taxonomies beside it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
import yaml

from benchmarks import augmentation_speed, results
from benchmarks.augmentation_works import WORKS, Files, copied
from benchmarks.names import unnamed
from benchmarks.results_file import read_rows, replace_rows
from benchmarks.sections import augmentation
from tasks.frames import write_frame
from tasks.induction import induce
from tasks.params import load_params
from tasks.schemas import QUERIES, SPLIT_ALIASES, SPLIT_INPUTS, SYNONYM_VARIANTS, VARIANTS

ROOT = Path(__file__).parents[2]
TITLES = {
    "a": ["bread baker", "bread maker", "cake maker", "cake baker"],
    "b": ["ward nurse", "ward sister", "night nurse"],
}


def frame(rows: list[tuple[object, ...]], schema: dict[str, pl.DataType]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict(schema), orient="row")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    params["pairs"] |= {"rounds": 8, "dissimilar_per_similar": 4}
    params["pairs"]["shares"]["synonym"] = 0.3
    params["synonyms"] |= {"reader": "table", "file": "synonyms.csv"}
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    (tmp_path / "synonyms.csv").write_text("term,synonym\nnurse,carer\n", encoding="utf-8")
    aliases = [(o, title, False, "train") for o, titles in TITLES.items() for title in titles]
    inputs = [(0, "night nurse wanted", "b", "train"), (1, "pilot", "a", "annotations")]
    for name, rows, schema in (
        ("split/aliases", aliases, SPLIT_ALIASES),
        ("split/inputs", inputs, SPLIT_INPUTS),
        ("typos/variants", [("bread baker", "bread bkr")], VARIANTS),
        ("synonyms/variants", [("ward nurse", "ward carer", "n", "c", "manual")], SYNONYM_VARIANTS),
        *((f"{stage}/queries", [], QUERIES) for stage in ("split", "typos", "synonyms")),
    ):
        write_frame(frame(rows, schema), tmp_path / f"data/{name}.parquet", schema)
    return tmp_path


@pytest.mark.parametrize(
    ("test", "rows"),
    [
        ("induction_x1", 7),
        ("induction_x4", 28),
        ("making_synonyms", 7),
        ("making_extra_words", 1),
        # 7 titles 8 times, and 3 of 10 similar pairs: 56 + 24; four dissimilar ones to each
        ("making_pairs", 400),
    ],
)
def test_every_work_counts_its_rows(workspace: Path, test: str, rows: int) -> None:
    assert WORKS[test](Files(workspace))() == rows


def test_copies_induce_the_same_so_many_times(workspace: Path) -> None:
    """In "a" bread = cake and baker = maker, in "b" nurse = sister and ward = night."""
    aliases = Files(workspace).aliases.rename({"title": "normalized"})
    params = load_params(ROOT / "params.yaml").synonyms
    found = []
    for copies in (1, 3):
        titles = copied(aliases, copies)
        found.append(induce(titles, set(titles["normalized"]), params))
    assert len(found[0].passed) == 4
    assert len(found[1].passed) == 3 * len(found[0].passed)
    assert found[1].counts == {rule: 3 * count for rule, count in found[0].counts.items()}
    assert found[1].passed["occupation_id"].n_unique() == 3 * 2


def test_rows_are_tidy_named_and_shown(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Medians of 1, 3 and 2 are 2; time a row is that of the repeat; every name has a meaning."""
    seconds = iter([1.0, 3.0, 2.0] * len(WORKS))
    monkeypatch.setattr(
        augmentation_speed,
        "measure_fresh",
        lambda test, folder: {"rows": 4, "seconds": next(seconds), "peak_mib": 100.0},
    )
    made = list(augmentation_speed.rows("sample", workspace, 3))
    timed = [row for row in made if row["metric"] == "seconds"]
    assert [row["test"] for row in timed] == list(WORKS)
    assert {(row["low"], row["value"], row["high"]) for row in timed} == {(1.0, 2.0, 3.0)}
    replace_rows(made, tmp_path / "results")
    stored = read_rows(tmp_path / "results/augmentation.csv")
    assert unnamed(stored) == set()
    shown = list(augmentation(stored))[-1].splitlines()
    assert [line.split(" | ")[1] for line in shown[2:5]] == [
        "induction_x1",
        "induction_x4",
        "induction_x16",
    ]
    assert "| 2 [1, 3] |" in shown[2]


def test_workspaces_are_those_with_synonyms(workspace: Path) -> None:
    assert augmentation_speed.workspaces(workspace) == {"sample": workspace}
    (workspace / augmentation_speed.NEEDED).unlink()
    assert augmentation_speed.workspaces(workspace) == {}


def test_left_out_with_a_word_where_nothing_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "run `make retrain` first" in str(results.missing("augmentation"))


def test_a_process_of_its_own_prints_its_figures(workspace: Path) -> None:
    found = augmentation_speed.measure_fresh("induction_x1", workspace)
    assert found["rows"] == 7
    assert found["microseconds_per_row"] == pytest.approx(1e6 * found["seconds"] / 7)
    assert found["peak_mib"] > 10
