"""What is remembered of a bulk run, and which of its titles get another answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from served_toy import toy_normalizer

from tasks.io.bulk_output import MANIFEST
from tasks.io.files import write_json
from tasks.release.gate import impact as affecting
from tasks.release.gate.impact import LAST, TITLES, LastRun, impact, last_run, remember

SPLITS = [["nurse", "cook", None, "nurse"], ["cook", "nurse", "baker"], ["", "abbot"]]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A root without git, so that it is its own main tree."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    return tmp_path


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """A folder as a bulk run leaves it, in three parts; its name reads like a pattern."""
    return written(tmp_path / "out [1]*")


def written(folder: Path, model: str = "models:/toy/3", **changes: Any) -> Path:
    folder.mkdir()
    parts = []
    for number, titles in enumerate(SPLITS):
        name = f"part-0000-{number:05}.parquet"
        pl.DataFrame({"headline": titles}, schema={"headline": pl.String}).write_parquet(
            folder / name
        )
        parts.append({"name": name, "rows": len(titles)})
    result = {"model": model, "column": "headline", "params": {"code_depth": 1}}
    write_json({"result": result, "parts": parts, "rows": 9} | changes, folder / MANIFEST)
    return folder


def test_titles_stand_with_their_rows_the_most_frequent_first(root: Path, output: Path) -> None:
    """Nurse 2 + 1, cook 1 + 1, one each of three; equal ones by the title, the null is a row."""
    remember(root, output)
    run = last_run(root, "toy")
    assert run is not None
    assert (run.model, run.params) == ("models:/toy/3", {"code_depth": 1})
    assert (run.rows, run.read_rows) == (9, 9)
    assert run.titles.rows() == [("nurse", 3), ("cook", 2), ("", 1), ("abbot", 1), ("baker", 1)]
    assert run.rows_of(["cook", "cook", "pilot", "nurse"]) == {"cook": 2, "nurse": 3}


def test_of_a_long_run_every_second_part_is_read(
    root: Path, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two parts of three at most: the first and the third, of four rows and two."""
    monkeypatch.setattr(affecting, "PARTS", 2)
    remember(root, output)
    run = last_run(root, "toy")
    assert run is not None and (run.rows, run.read_rows) == (9, 6)
    assert run.titles.rows() == [("nurse", 2), ("", 1), ("abbot", 1), ("cook", 1)]


def test_a_run_without_rows_has_no_titles(root: Path) -> None:
    remember(root, written(root / "out", parts=[], rows=0))
    run = last_run(root, "toy")
    assert run is not None and (run.rows, run.read_rows) == (0, 0)
    assert dict(run.titles.schema) == dict(TITLES) and run.titles.is_empty()


def test_runs_of_no_version_are_not_noted(root: Path) -> None:
    remember(root, written(root / "out", model="/a/folder/of/a/model"))
    assert not (root / LAST).exists()
    assert last_run(root, "toy") is None


def test_a_later_run_takes_the_place_of_its_models_and_of_no_other(root: Path) -> None:
    """Each run has digits of its own, by which titles are drawn."""
    digits = []
    for name, model in (("a", "models:/toy/3"), ("b", "models:/other/1"), ("c", "models:/toy/4")):
        remember(root, written(root / name, model=model))
        run = last_run(root, model.split("/")[1])
        assert run is not None and run.model == model
        digits.append(run.digits)
    assert len(set(digits)) == 3
    other = last_run(root, "other")
    assert other is not None and other.digits == digits[1]
    note = json.loads((root / LAST / "toy.json").read_text())
    assert note["output"] == str(root / "c")


def gone(output: Path) -> None:
    output.rename(output.with_name("elsewhere"))


def made_anew(output: Path) -> None:
    gone(output)
    written(output, model="models:/toy/5")


def with_a_shorter_part(output: Path) -> None:
    shorter = pl.DataFrame({"headline": ["cook"]})
    shorter.write_parquet(output / "part-0000-00001.parquet")


def with_a_damaged_part(output: Path) -> None:
    (output / "part-0000-00001.parquet").write_text("no Parquet")


@pytest.mark.parametrize("change", [gone, made_anew, with_a_shorter_part, with_a_damaged_part])
def test_a_folder_that_has_changed_is_not_used(
    root: Path, output: Path, change: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    remember(root, output)
    change(output)
    assert last_run(root, "toy") is None
    assert "the last bulk run of toy cannot be read: " in capsys.readouterr().out


def test_a_run_does_not_fail_where_nothing_can_be_noted(
    root: Path, output: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / LAST.parent).write_text("a file, where a folder should be")
    remember(root, output)
    assert "the last run could not be noted" in capsys.readouterr().out


class ByHeart:
    """Answers from its list, and abstains otherwise."""

    def __init__(self, answers: Mapping[str, str]) -> None:
        self.answers = answers
        self.asked: list[Any] = []

    def predict(self, titles: Sequence[str], **params: Any) -> SimpleNamespace:
        self.asked.append(params)
        ids = [self.answers.get(title) for title in titles]
        labels = [name.title() if name else None for name in ids]
        columns = {"occupation_id": ids, "occupation_label": labels}
        return SimpleNamespace(
            table=pa.table(columns, pa.schema([(k, pa.string()) for k in columns]))
        )


def run_of(rows: Mapping[str, int], total: int, digits: int = 0, **params: Any) -> LastRun:
    titles = pl.DataFrame([*rows.items()], schema=dict(TITLES), orient="row")
    return LastRun("models:/toy/3", params, 2 * total, total, titles, digits)


RUN = {"rn": 50, "chef": 40, "bread": 30, "xx": 20, "sister": 10}


def measured(run: LastRun, before: object, after: object) -> dict[str, Any]:
    """The impact, without what it says of the run."""
    values = impact(run, before, after)  # type: ignore[arg-type]
    assert values is not None and values.pop("model") == "models:/toy/3"
    assert (values.pop("run_rows"), values.pop("read_rows")) == (2 * run.read_rows, run.read_rows)
    return values


def test_rows_count_where_the_occupation_differs_or_one_abstains() -> None:
    """Chef 40 gets another, bread 30 none, xx 20 one; rn stays, and sister has none twice."""
    before = ByHeart({"rn": "nurse", "chef": "waiter", "bread": "baker"})
    after = ByHeart({"rn": "nurse", "chef": "cook", "xx": "clerk"})
    assert measured(run_of(RUN, 200), before, after) == {
        "queried_titles": 5,
        "queried_rows": 150,
        "changed_titles": 3,
        "changed_rows": 90,
        "changed": [
            {"raw_title": "chef", "rows": 40, "before": "Waiter", "after": "Cook"},
            {"raw_title": "bread", "rows": 30, "before": "Baker", "after": None},
            {"raw_title": "xx", "rows": 20, "before": None, "after": "Clerk"},
        ],
    }


def test_the_most_frequent_titles_are_asked_and_fewer_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of five titles three are asked (50 + 40 + 30 rows), of three that change one is named."""
    monkeypatch.setattr(affecting, "MOST_QUERIED", 3)
    monkeypatch.setattr(affecting, "MOST_NAMED", 1)
    after = ByHeart(dict.fromkeys(RUN, "pilot"))
    values = measured(run_of(RUN, 150), ByHeart({}), after)
    assert values.pop("changed") == [
        {"raw_title": "rn", "rows": 50, "before": None, "after": "Pilot"}
    ]
    assert [*values.values()] == [3, 120, 3, 120]


def test_the_run_s_own_parameters_are_asked_but_for_the_length_of_lists(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The toy is not calibrated, so that nobody can mean a confidence: no impact is known."""
    model, toy = ByHeart({}), toy_normalizer()
    run = run_of(RUN, 150, top_k=7, min_confidence=0.4, code_depth=2)
    assert measured(run, model, model)["changed"] == []
    assert model.asked == [{"min_confidence": 0.4, "code_depth": 2}] * 2
    assert impact(run_of(RUN, 150, min_confidence=0.5), toy, toy) is None
    assert "the impact on the last bulk run is unknown: " in capsys.readouterr().out
