"""What is timed is the stages' own work, and copies of a taxonomy are taxonomies beside it."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import polars as pl
import pytest
import yaml
from frames_of import inputs_of, queries_of, titles_of, variants_of

from benchmarks.studies.augmentation import measure as study
from benchmarks.studies.augmentation.works import WORKS, Files, copied
from benchmarks.timing import fresh
from tasks.augment.induction import induce
from tasks.files.frames import write_frame
from tasks.files.schemas import QUERIES, SPLIT_INPUTS, SYNONYM_VARIANTS, TITLES, VARIANTS
from tasks.params.whole import load_params

ROOT = Path(__file__).parents[2]
OWN = {
    "a": ["bread baker", "bread maker", "cake maker", "cake baker"],
    "b": ["ward nurse", "ward sister", "night nurse"],
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    params["pairs"] |= {"rounds": 8, "dissimilar_per_similar": 4}
    params["pairs"]["shares"]["synonym"] = 0.3
    params["synonyms"] |= {"reader": "table", "file": "synonyms.csv"}
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    (tmp_path / "synonyms.csv").write_text("term,synonym\nnurse,carer\n", encoding="utf-8")
    titles = titles_of((o, title, "train") for o, own in OWN.items() for title in own)
    inputs = inputs_of([("night nurse wanted", "b", "train"), ("pilot", "a", "annotations")])
    synonym = variants_of([("ward nurse", "ward carer", "n", "c", "manual")], SYNONYM_VARIANTS)
    for name, frame, schema in (
        ("split/titles", titles, TITLES),
        ("split/inputs", inputs, SPLIT_INPUTS),
        ("typos/variants", variants_of([("bread baker", "bread bkr")]), VARIANTS),
        ("synonyms/variants", synonym, SYNONYM_VARIANTS),
        *(
            (f"{stage}/queries", queries_of([]), QUERIES)
            for stage in ("split", "typos", "synonyms")
        ),
    ):
        write_frame(frame, tmp_path / f"data/{name}.parquet", schema)
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
    owned = [(occupation, title) for occupation, own in OWN.items() for title in own]
    aliases = pl.DataFrame(owned, ["occupation_id", "normalized"], orient="row")
    params = load_params(ROOT / "params.yaml").synonyms
    induced = []
    for copies in (1, 3):
        titles = copied(aliases, copies)
        induced.append(induce(titles, set(titles["normalized"]), params))
    assert len(induced[0].passed) == 4
    assert len(induced[1].passed) == 3 * len(induced[0].passed)
    assert induced[1].counts == {rule: 3 * count for rule, count in induced[0].counts.items()}
    assert induced[1].passed["occupation_id"].n_unique() == 3 * 2


def test_rows_are_medians_with_their_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The median of 1, 3 and 2 is 2; rows have no ends."""
    seconds = iter([1.0, 3.0, 2.0] * len(WORKS))
    monkeypatch.setattr(study, "fresh", lambda *_: {"rows": 4, "seconds": next(seconds)})
    (rows,) = study.measure("sample", Namespace(repeats=3))
    timed = [row for row in rows if row.metric == "seconds"]
    assert [row.test for row in timed] == list(WORKS)
    assert {(row.low, row.value, row.high, row.n) for row in timed} == {(1.0, 2.0, 3.0, 3)}
    assert {(row.low, row.value) for row in rows if row.metric == "rows"} == {(None, 4)}


def test_a_process_of_its_own_prints_its_figures(workspace: Path) -> None:
    words = ("benchmarks.studies.augmentation.works", str(workspace), "induction_x1")
    figures = fresh(*words)
    assert figures["rows"] == 7
    assert figures["microseconds_per_row"] == pytest.approx(1e6 * figures["seconds"] / 7)
    assert figures["peak_mib"] > 10
