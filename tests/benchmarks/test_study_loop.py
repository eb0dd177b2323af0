"""Weeks of a toy board, reviewed by a queue, at random and not at all, by product commands."""

from __future__ import annotations

import subprocess
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import yaml
from toy_workspace import JOBS, make_workspace, queries, write_board

from benchmarks.results import Row, _tidied
from benchmarks.studies import loop
from benchmarks.studies.loop import ARMS, counted
from benchmarks.studies.loop_arm import (
    EFFECTS,
    METRICS,
    decided,
    effects_of,
    filled_in,
    random_queue,
    split_weeks,
    titles_of,
    values,
    with_sums,
)
from benchmarks.studies.loop_product import Product
from tasks.io.frames import write_frame
from tasks.io.mixes import SOURCES
from tasks.io.schemas import (
    AUXILIARY_TITLES,
    EXTRA_WORDS_VARIANTS,
    GROUPS,
    OCCUPATIONS,
    QUERIES,
    SYNONYM_VARIANTS,
    VARIANTS,
)
from tasks.pipeline.pairs.strings import NO_AUXILIARY

OPTIONS: dict[str, Any] = {
    "weeks": 1,
    "budget": 8,
    "every": 1,
    "seeds": 1,
    "deals": 1,
    "processes": 1,
}
FRONTS = [one + two for one in "abcdefg" for two in "mnopqrs"]
OF_SOURCES = (VARIANTS, SYNONYM_VARIANTS, EXTRA_WORDS_VARIANTS)


def board_rows() -> list[tuple[str, str]]:
    """A row a title, some twice."""
    rows = [(f"{front} {job}", f"o{k}") for k, job in enumerate(JOBS) for front in FRONTS]
    return rows + [(title.upper(), k) for title, k in rows[::7]]


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A board beside a finished workspace, the working directory, whose network learns 4 steps."""
    root = make_workspace(tmp_path / "workspace")
    monkeypatch.chdir(root)
    write_board(tmp_path, board_rows())
    monkeypatch.setattr(loop, "data_folder", lambda: tmp_path)
    params = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    params["train"] |= {"max_steps": 4, "evaluate_every": 4}
    (root / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    (root / "dvc.lock").write_text("schema: '2.0'\n", encoding="utf-8")
    codes = [(f"o{k}", job, ["1", f"1{k % 2}"]) for k, job in enumerate(JOBS)]
    frame = pl.DataFrame(codes, schema=dict(OCCUPATIONS), orient="row")
    write_frame(frame, root / "data/ingest/occupations.parquet", OCCUPATIONS)
    groups = pl.DataFrame(schema=dict(GROUPS))
    write_frame(groups, root / "data/ingest/groups.parquet", GROUPS)
    for source, schema in zip(SOURCES, OF_SOURCES, strict=True):
        none = pl.DataFrame(schema=dict(schema))
        write_frame(none, root / f"data/{source.stage}/variants.parquet", schema)
    write_frame(NO_AUXILIARY, root / "data/auxiliary_taxonomy/titles.parquet", AUXILIARY_TITLES)
    of_gate = queries("typos", "gate", "old ")
    write_frame(of_gate, root / "data/typos/queries.parquet", QUERIES)
    return tmp_path


def options(folder: Path, **changes: int) -> Namespace:
    return Namespace(**OPTIONS | changes, kept=folder / "kept")


def table(rows: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(rows, orient="row", schema=list(Row._fields), infer_schema_length=None)


@pytest.mark.slow
def test_a_study_on_a_toy(board: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every arm has every week, an override is right at once, and what is kept is not run again."""
    (rows,) = loop.measure("sample", options(board))
    made = table(rows)
    weekly = made.filter(pl.col("metric") == "success_at_1", pl.col("seed") == 1)
    for name in ARMS:
        assert weekly.filter(system=name)["test"].to_list() == ["week:1", "week:2", "later_weeks"]
    assert weekly.filter(test="week:1")["value"].n_unique() == 1  # nobody has reviewed anything
    reviewing = ["queue", "random"]
    mistakes = made.filter(metric="mistakes", test="week:1/queried", seed=1)
    reviewed = dict(mistakes.select("system", "n").iter_rows())
    assert reviewed["random"] == 8 and 1 <= reviewed["queue"] <= 8  # to this network most are alike
    once = made.filter(test="week:1/at_once", metric="corrected", seed=1)
    assert once["value"].to_list() == [1.0] * len(once) and len(once)
    later = made.filter(metric="gain_of_retraining", test="week:1/later", seed=1)
    assert set(later["n"]) == set(weekly.filter(test="week:2")["n"])
    assert sorted(made.filter(metric="promoted", test="week:1/gate", seed=1)["system"]) == reviewing
    gained = made.filter(pl.col("metric") == "gain_success_at_1")
    assert set(gained["system"]) == {"queue-random", "queue-nothing", "random-nothing"}
    kept = sorted(path.name for path in (board / "kept").iterdir())
    names = [f"sample-{arm}-1-1-1x8-every-1.parquet" for arm in sorted(ARMS)]
    assert kept == sorted([*names, "sample-first-1"])
    monkeypatch.setattr(subprocess, "run", None)
    (again,) = loop.measure("sample", options(board))
    assert again == rows
    lines = [_tidied("sample", row, "loop-1") for row in rows]
    drawn = loop.plot(lines)
    assert drawn.count("inputs answered correctly") == 1 and "the queue reviewed" in drawn


def test_the_queue_is_of_all_weeks_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest last; a note of the newest week keeps that it was done."""
    ran = list[list[str]]()

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        ran.append(command)
        (tmp_path / "week-02-queue").mkdir()
        (tmp_path / "week-02-queue/queue.csv").write_text("raw_title\nnurse\n")
        return subprocess.CompletedProcess(command, 0, "")

    monkeypatch.setattr(subprocess, "run", run)
    product = Product(tmp_path, 1)
    queues = [product.queue(["week-01", "week-02"], 8) for _ in range(2)]
    assert [queue.to_dict(as_series=False) for queue in queues] == 2 * [{"raw_title": ["nurse"]}]
    (command,) = ran
    names = [Path(word).name for word in command[3:]]
    answers = ["week-01-answers.parquet", "week-02-answers.parquet"]
    assert names == [*answers, "week-02-queue", "--budget", "8"]


@pytest.fixture
def product(board: Path) -> Iterator[Product]:
    return Product.of(Path(), board / "kept/arm", 3)


def test_a_product_has_the_files_before_feedback_alone(board: Path, product: Product) -> None:
    """Nothing that a command writes is a link, so the workspace stays as it is."""
    Path("data/feedback").mkdir()
    again = Product.of(Path(), board / "kept/arm", 3)
    assert again == product
    for name in ("feedback", "pairs/corrections", "train/extra_words/3", "calibrate"):
        assert not (product.data / name).exists()
    assert (product.data / "split").is_symlink()
    assert (product.data / "pairs/extra_words/strings.parquet").is_file()
    params = yaml.safe_load((product.folder / "params.yaml").read_text(encoding="utf-8"))
    assert (params["mix"], params["seeds"], params["feedback"]["folder"]) == (
        "corrections",
        [3],
        "feedback",
    )


def test_a_command_is_run_once_and_its_failure_is_not_kept(product: Product) -> None:
    with pytest.raises(RuntimeError, match="no_such_module"):
        product.command("first", "no_such_module", ["--json"])
    script = product.folder / "speaking.py"
    script.write_text("print('words'); print('{\"version\": \"7\"}')", encoding="utf-8")
    assert product.command("first", "speaking", ["--json"]) == {"version": "7"}
    script.unlink()
    assert product.command("first", "speaking", ["--json"]) == {"version": "7"}


NAMES = ["query_id", "normalized", "occupation_id"]


def inputs(count: int) -> pl.DataFrame:
    """Every third title has two rows, with two labels."""
    rows = [(f"q{k}", f"t{k}", f"o{k % 4}") for k in range(count)]
    rows += [(f"r{k}", f"t{k}", "other") for k in range(0, count, 3)]
    return pl.DataFrame(rows, schema=NAMES, orient="row")


def test_a_title_is_in_one_week_with_all_of_its_rows() -> None:
    rows = inputs(99)
    weeks = split_weeks(rows, 11, 1)
    assert [week["normalized"].n_unique() for week in weeks] == [9] * 11
    assert pl.concat(weeks).sort("query_id").equals(rows.sort("query_id"))
    poisoned = split_weeks(rows.with_columns(occupation_id=pl.lit("o9")), 11, 1)
    assert [week["query_id"].to_list() for week in poisoned] == [
        week["query_id"].to_list() for week in weeks
    ]
    assert split_weeks(rows, 11, 2)[0]["query_id"].to_list() != weeks[0]["query_id"].to_list()


def test_a_persons_label_is_that_of_most_rows() -> None:
    """Two of three rows are o1; of one each the first row's; a title's first row stands for it."""
    rows = [("q0", "a", "o0"), ("q1", "b", "o2"), ("q2", "a", "o1"), ("q3", "b", "o0")]
    rows.append(("q4", "a", "o1"))
    titles = titles_of(pl.DataFrame(rows, schema=NAMES, orient="row"))
    rows_by_title = titles.select("query_id", "normalized", "rows", "label").rows()
    assert rows_by_title == [("q0", "a", 3, "o1"), ("q1", "b", 2, "o2")]


def of_week(count: int, rows: list[int]) -> pl.DataFrame:
    """Titles with their rows, answered with the first occupation; the last is not answered."""
    answers = ["o0"] * (count - 1) + [None]
    return pl.DataFrame(
        {
            "raw_title": [f"T{k}" for k in range(count)],
            "normalized": [f"t{k}" for k in range(count)],
            "rows": rows,
            "label": [f"o{k}" for k in range(count)],
            "answer_occupation_id": answers,
            "answer_matched_title": answers,
            "answer_model_version": "v1",
        }
    )


def test_titles_are_drawn_once_and_by_their_inputs() -> None:
    """Of 200 draws of one, the title of eight in ten inputs is taken about 160 times."""
    titles = of_week(3, [8, 1, 1])
    assert sorted(drawn(titles, 9, 1)) == ["T0", "T1", "T2"]
    firsts = [drawn(titles, 1, number)[0] for number in range(200)]
    assert 140 < firsts.count("T0") < 180
    assert drawn(titles, 2, 1) == drawn(titles, 2, 1)


def drawn(titles: pl.DataFrame, budget: int, seed: int) -> list[str]:
    return random_queue(titles, budget, np.random.default_rng(seed))["raw_title"].to_list()


def test_every_fifth_of_the_random_titles_is_the_gates() -> None:
    marks = random_queue(of_week(12, [1] * 12), 11, np.random.default_rng(1))["chosen_by"]
    assert marks.to_list() == ([*["coverage"] * 4, "random"] * 3)[:11]


def test_a_person_confirms_or_corrects() -> None:
    """A file of the queue writes nothing as an empty text, and guards a formula."""
    names = ("raw_title", "predicted_occupation_id", "matched_title", "model_version", "chosen_by")
    rows = [("T0", "o0", "x", "v", "random"), ("'-T1", "o0", "x", "v", "disputed")]
    queue = pl.DataFrame([*rows, ("T2", "", "", "v", "coverage")], schema=list(names), orient="row")
    reviewed = filled_in(queue, of_week(3, [1] * 3), 2)
    assert reviewed.rows() == [
        ("T0", "o0", "x", "v", "correct", None, "person", "2026-01-12", "random"),
        ("-T1", "o0", "x", "v", "incorrect", "o1", "person", "2026-01-12", "disputed"),
        ("T2", None, None, "v", "incorrect", "o2", "person", "2026-01-12", "coverage"),
    ]


def answering(name: str | None) -> Any:
    """A model that answers every title with one occupation."""
    answer = lambda titles: pa.table({"occupation_id": [name] * len(titles)})  # noqa: E731
    return Namespace(served=Namespace(answer=answer))


@pytest.mark.parametrize("now", ["b", None])
def test_effects_by_hand(now: str | None) -> None:
    """Of three inputs one is `a`: the network before has it right, the one now the other two."""
    inputs = {"raw_title": ["x", "y", "z"], "occupation_id": ["a", "b", "b"]}
    later = pl.DataFrame({"query_id": ["q1", "q2", "q3"], **inputs})
    made = values(effects_of(later, [answering("a"), answering(now)]), "week:1/later", **EFFECTS)
    right = float(now == "b")
    columns = ("query_id", "gain_of_retraining", "repaired", "broken")
    assert made.select(columns).rows() == [
        ("q1", -1, None, 1),
        ("q2", right, right, None),
        ("q3", right, right, None),
    ]


def test_counts_are_of_each_run_and_of_all() -> None:
    """Run 1 repairs two answers and breaks one, run 2 repairs one; without a broken one no row."""
    later = pl.DataFrame(
        {"query_id": ["q1", "q2", "q3"], "raw_title": ["x"] * 3, "occupation_id": ["a", "b", "b"]}
    )
    runs = {}
    for run, models in ((1, "ab"), (2, "ca")):
        made = effects_of(later, [answering(name) for name in models])
        runs[run] = with_sums(values(made, "week:4/later", **EFFECTS))
    rows = [(row.seed, row.metric, row.value, row.n) for row in counted("queue", runs)]
    assert rows == [
        (1, "repaired_answers", 2, 3),
        (1, "broken_answers", 1, 3),
        (1, "repaired_for_one_broken", 2, 3),
        (None, "repaired_answers", 3, 6),
        (None, "broken_answers", 1, 6),
        (None, "repaired_for_one_broken", 3, 6),
    ]
    assert [*counted("nothing", {1: runs[1].clear()})] == []


@pytest.mark.parametrize(
    ("better", "promoted", "gate"),
    [
        (1, True, (1, 1, None)),
        (2, False, (0, 0, None)),
        (-1, True, (1, None, 1)),
        (0, True, (1, None, None)),
    ],
)
def test_a_decision_by_its_effect(
    better: int, promoted: bool, gate: tuple[float | None, ...]
) -> None:
    names = ("promoted", "promoted_if_better", "promoted_if_worse")
    assert decided("week:1", better, promoted).select(names).rows() == [gate]


def test_sums_leave_the_first_week_out_of_the_later_ones() -> None:
    right = pl.col("answer") == pl.col("occupation_id")
    rows = pl.DataFrame({"query_id": ["q"], "occupation_id": ["a"], "answer": ["a"]})
    frames = [values(rows, f"week:{number}", success_at_1=right) for number in (1, 2, 3)]
    frames += [
        values(rows, f"week:{number}/gate", promoted=pl.lit(number == 2)) for number in (1, 2)
    ]
    summed = with_sums(pl.concat(frames))
    assert summed.columns == ["test", "query_id", *METRICS]
    assert len(summed.filter(test="later_weeks")) == 2
    assert summed.filter(test="all_weeks/gate")["promoted"].mean() == 0.5
