"""Weeks of a toy board, reviewed by a queue, at random and not at all, by product commands."""

from __future__ import annotations

import subprocess
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from test_study_champion import write_board
from toy_workspace import JOBS, make_workspace, queries

from benchmarks.results import Row, _tidied
from benchmarks.studies.loop import measure as loop
from benchmarks.studies.loop.measure import ARMS, Job
from benchmarks.studies.loop.product import Product
from benchmarks.studies.loop.stream import read_weeks
from benchmarks.workspace import Workspace
from tasks.io.frames import write_frame
from tasks.io.mixes import SOURCES
from tasks.io.schemas import (
    AUXILIARY_TITLES,
    EXTRA_WORDS_VARIANTS,
    GROUPS,
    JUDGED,
    OCCUPATIONS,
    OVERRIDES,
    QUERIES,
    REVIEWS,
    SYNONYM_VARIANTS,
    VARIANTS,
)
from tasks.pipeline.pairs.strings_table import NO_AUXILIARY

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


def board_rows(*, poisoned: set[str] | None = None) -> list[tuple[str, str]]:
    """A row a title, some twice; poisoned ones have the label of another occupation."""
    rows = [(f"{front} {job}", k) for k, job in enumerate(JOBS) for front in FRONTS]
    rows += [(title.upper(), k) for title, k in rows[::7]]
    bad = poisoned or set()
    return [(title, f"o{(k + (title.lower() in bad)) % len(JOBS)}") for title, k in rows]


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
    for name, schema in (("judged", JUDGED), ("reviews", REVIEWS), ("overrides", OVERRIDES)):
        none = pl.DataFrame(schema=dict(schema))
        write_frame(none, root / f"data/pairs/extra_words/{name}.parquet", schema)
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


def test_labels_do_not_deal_the_weeks(board: Path) -> None:
    """With other labels in the week after, the first week is the same; another deal is another."""
    workspace = Workspace.read("sample")
    weeks = read_weeks(workspace, board, 1, 1)
    write_board(board, board_rows(poisoned=set(weeks[1]["normalized"])))
    again = read_weeks(workspace, board, 1, 1)
    assert again[0].equals(weeks[0]) and not again[1].equals(weeks[1])
    other = read_weeks(workspace, board, 1, 2)
    assert not other[0].equals(weeks[0]) and sum(map(len, other)) == sum(map(len, weeks))


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


def test_arms_do_not_share_a_folder(board: Path) -> None:
    jobs = [Job("sample", arm, 1, deal, options(board)) for arm in ARMS for deal in (1, 2)]
    assert len({job.folder for job in jobs}) == 6
