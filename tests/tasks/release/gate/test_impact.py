"""What is remembered of a bulk run, and which of its titles get another answer."""

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
from tasks.release.gate import disputed as disputing
from tasks.release.gate import impact as affecting
from tasks.release.gate.disputed import (
    FILE,
    disputed,
    note_that_none_waits,
    read_disputed,
    waiting_version,
    write_waiting,
)
from tasks.release.gate.disputed import TITLES as DISPUTED
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
        pl.Series("headline", titles, pl.String).to_frame().write_parquet(folder / name)
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


def test_of_a_long_run_every_second_part_is_read(root: Path, output: Path, monkeypatch) -> None:
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
    runs = []
    for name, model in (("a", "models:/toy/3"), ("b", "models:/other/1"), ("c", "models:/toy/4")):
        remember(root, written(root / name, model=model))
        runs.append(last_run(root, model.split("/")[1]))
        assert runs[-1] is not None and runs[-1].model == model
    assert len({run.digits for run in runs}) == 3
    assert last_run(root, "other").digits == runs[1].digits
    note = json.loads((root / LAST / "toy.json").read_text())
    assert note["output"] == str(root / "c")


@pytest.mark.parametrize("change", ["gone", "made anew", "a shorter part", "a damaged part"])
def test_a_folder_that_has_changed_is_not_used(root, output: Path, change: str, capsys) -> None:
    remember(root, output)
    part = output / "part-0000-00001.parquet"
    if change == "a shorter part":
        pl.DataFrame({"headline": ["cook"]}).write_parquet(part)
    elif change == "a damaged part":
        part.write_text("no Parquet")
    else:
        output.rename(output.with_name("elsewhere"))
    if change == "made anew":
        written(output, model="models:/toy/5")
    assert last_run(root, "toy") is None
    assert "the last bulk run of toy cannot be read: " in capsys.readouterr().out


def test_a_run_does_not_fail_where_nothing_can_be_noted(root: Path, output: Path, capsys) -> None:
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
        schema = pa.schema([(name, pa.string()) for name in columns])
        return SimpleNamespace(table=pa.table(columns, schema))


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
        **{"queried_titles": 5, "queried_rows": 150, "changed_titles": 3, "changed_rows": 90},
        "changed": [
            {"raw_title": "chef", "rows": 40, "before": "Waiter", "after": "Cook"},
            {"raw_title": "bread", "rows": 30, "before": "Baker", "after": None},
            {"raw_title": "xx", "rows": 20, "before": None, "after": "Clerk"},
        ],
    }


def test_the_most_frequent_titles_are_asked_and_fewer_named(monkeypatch) -> None:
    """Of five titles three are asked (50 + 40 + 30 rows), of three that change one is named."""
    monkeypatch.setattr(affecting, "MOST_QUERIED", 3)
    monkeypatch.setattr(affecting, "MOST_NAMED", 1)
    values = measured(run_of(RUN, 150), ByHeart({}), ByHeart(dict.fromkeys(RUN, "pilot")))
    (named,) = values.pop("changed")
    assert named == {"raw_title": "rn", "rows": 50, "before": None, "after": "Pilot"}
    assert [*values.values()] == [3, 120, 3, 120]


def test_the_run_s_own_parameters_are_asked_but_for_the_length_of_lists(capsys) -> None:
    """The toy is not calibrated, so that nobody can mean a confidence: no impact is known."""
    model, toy = ByHeart({}), toy_normalizer()
    run = run_of(RUN, 150, top_k=7, min_confidence=0.4, code_depth=2)
    assert measured(run, model, model)["changed"] == []
    assert model.asked == [{"min_confidence": 0.4, "code_depth": 2}] * 2
    assert impact(run_of(RUN, 150, min_confidence=0.5), toy, toy) is None
    assert "the impact on the last bulk run is unknown: " in capsys.readouterr().out


DRAWN = {f"t{number}": 1 + 8 * (number % 2) for number in range(400)}


def test_titles_are_drawn_by_their_rows_and_not_by_their_answers(monkeypatch) -> None:
    """Of 100 drawn titles some nine of ten have nine rows; half of them get another answer."""
    monkeypatch.setattr(disputing, "SAMPLED", 100)
    changed = {title for title in DRAWN if int(title[1:]) % 4 < 2}
    before = ByHeart(dict.fromkeys(DRAWN, "cook"))
    after = ByHeart({title: "chef" for title in DRAWN if title in changed})
    for run in (run_of(DRAWN, 2000), run_of(dict(sorted(DRAWN.items())), 2000)):
        both = disputed(run, before, after)  # type: ignore[arg-type]
        everything = disputed(run, before, ByHeart({}))  # type: ignore[arg-type]
        assert both is not None and everything is not None
        drawn = [title for title, _ in everything["titles"]]
        assert len(set(drawn)) == 100 and both["queried"] == 100
        assert 75 < sum(DRAWN[title] == 9 for title in drawn) < 100
    others = dict(both["titles"])
    assert list(others) == drawn, "an abstention is another answer"
    assert {title for title, other in others.items() if other == "chef"} == changed & set(drawn)


def test_another_run_draws_other_titles(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same titles came in: of 400, a tenth of the 40 drawn before are drawn by chance."""
    monkeypatch.setattr(disputing, "SAMPLED", 40)
    rows = dict.fromkeys(DRAWN, 1)
    models = ByHeart(dict.fromkeys(DRAWN, "cook")), ByHeart({})
    samples = [disputed(run_of(rows, 400, digits), *models) for digits in (7, 0x5EED5EED)]  # type: ignore[arg-type]
    one, other = ({title for title, _ in sample["titles"]} for sample in samples if sample)
    assert len(one) == len(other) == 40 and len(one & other) < 12


def test_the_runs_least_confidence_makes_no_difference() -> None:
    """Two models with one first answer, of which one is surer, are equal in the gate's test."""
    models, toy = (ByHeart({}), ByHeart({})), toy_normalizer()
    run = run_of(DRAWN, 400, min_confidence=0.5, code_depth=2)
    assert disputed(run, *models) == {"queried": 400, "titles": []}  # type: ignore[arg-type]
    assert [model.asked for model in models] == 2 * [[{"code_depth": 2}]]
    assert disputed(run_of(DRAWN, 9, code_depth=99), toy, toy) is None, "it cannot be asked so"


def test_what_the_review_reads(tmp_path: Path) -> None:
    """One row a normalized title, in the order of the draw; none without a decision."""
    assert read_disputed(tmp_path).is_empty() and waiting_version(tmp_path) is None
    titles = [["Cook!", "a"], ["Nurse", None], ["cook", "b"]]
    for rows in ([], titles):
        write_waiting(tmp_path, "7", {"queried": 5, "titles": rows})
        made = read_disputed(tmp_path)
        assert dict(made.schema) == dict(DISPUTED) and waiting_version(tmp_path) == "7"
    assert made.rows() == [("Cook!", "cook", 0, "a"), ("Nurse", "nurse", 1, None)]
    assert made["other_occupation_id"].dtype == pl.String
    note_that_none_waits(tmp_path)
    assert read_disputed(tmp_path).is_empty() and waiting_version(tmp_path) is None


@pytest.mark.parametrize(
    ("version", "corrects", "titles"),
    [("7", None, ["Cook!"]), ("8", "7", ["Cook!"]), ("8", None, []), ("9", "8", [])],
)
def test_a_version_waits_without_a_bulk_run(tmp_path, version, corrects, titles) -> None:
    """Replies on titles of random rows may decide; earlier titles of the same network stay."""
    write_waiting(tmp_path, "7", {"queried": 5, "titles": [["Cook!", "a"]]})
    write_waiting(tmp_path, version, None, corrects)
    assert waiting_version(tmp_path) == version
    assert read_disputed(tmp_path)["raw_title"].to_list() == titles


def test_titles_of_an_earlier_rolecall_name_no_version(tmp_path: Path) -> None:
    write_json({"queried": 5, "titles": [["Cook!", "a"]]}, tmp_path / FILE)
    assert waiting_version(tmp_path) is None and len(read_disputed(tmp_path)) == 1
    write_waiting(tmp_path, "8", None)
    assert waiting_version(tmp_path) == "8" and read_disputed(tmp_path).is_empty()


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    write_waiting(tmp_path, "7", None)
    (tmp_path / FILE).write_text('{"queried": 0, "tit')
    with pytest.raises(ValueError, match=f"{FILE} is damaged .* Delete it"):
        waiting_version(tmp_path)
