"""The paper's Table 3 on our data: copies what the pipeline has measured, and measures nothing."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.query_figures import sliced
from benchmarks.results import BEST_STEP, LAST_STEP, Row
from benchmarks.workspace import SAMPLE, Workspace, place
from tasks.files.frames import read_frame
from tasks.files.schemas import STRINGS, TABLE
from tasks.files.sources import MIXES
from tasks.files.tables import read_table
from tasks.pairing.strings_table import VALID
from tasks.reporting.material import HISTORY
from tasks.reporting.sections.learning import best_look
from tasks.table3.effects import EFFECTS, KEPT_UP
from tasks.table3.tables import SUMMARY

LEXICAL = Path("data/lexical/table.csv")
EFFECTS_FILE = "data/table3/effects.csv"


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Yield every row of a workspace."""
    workspace = Workspace.read(dataset)
    rows = [*lexical(workspace), *networks(workspace), *bounds(workspace)]
    if (workspace.folder / EFFECTS_FILE).is_file():
        folder = workspace.data / "table3"
        rows += means(read_table(folder / "summary.csv", SUMMARY))
        rows += gains(read_table(folder / "effects.csv", EFFECTS))
        rows += verdicts(read_table(folder / "kept_up.csv", KEPT_UP))
    yield rows


def lexical(workspace: Workspace) -> Iterator[Row]:
    """Yield the systems that learn nothing, unless the sample has the very same figures."""
    path, own = workspace.folder / LEXICAL, place(SAMPLE) / LEXICAL
    same = path.is_file() and own.is_file() and path.read_bytes() == own.read_bytes()
    if workspace.dataset == SAMPLE or not same:
        yield from (_row(line) for line in read_table(path, TABLE).iter_rows(named=True))


def networks(workspace: Workspace) -> Iterator[Row]:
    """Yield every mix with every seed; the untrained network is that of the first mix."""
    table = workspace.table(workspace.mix, workspace.seed)
    if not table.is_file():
        raise FileNotFoundError(f"{table} is missing: run `make retrain`")
    mixes = [mix for mix in MIXES if workspace.table(mix, workspace.seed).is_file()]
    for mix in mixes:
        for seed in workspace.params.seeds:
            for line in read_table(workspace.table(mix, seed), TABLE).iter_rows(named=True):
                if mix in (mixes[0], line["system"]):
                    yield _row(line)._replace(seed=seed)
            yield from training(workspace, mix, seed)


def training(workspace: Workspace, mix: str, seed: int) -> Iterator[Row]:
    """Yield where a network was best, where it ended, and success@1 of every look."""
    looks = read_table(workspace.history(mix, seed), HISTORY)
    best, _ = best_look(looks) or (0, 0.0)
    for metric, step in ((BEST_STEP, best), (LAST_STEP, looks["step"][-1])):
        yield Row(mix, "training", metric, step, 1, seed=seed)
    strings = read_frame(workspace.pairs(mix) / "strings.parquet", STRINGS)
    queries = len(strings.filter(role=VALID))
    for step, score in looks.select("step", "valid_score").iter_rows():
        yield Row(mix, f"step_{step:05d}", "valid_success_at_1", score, queries, seed=seed)


def means(summary: pl.DataFrame) -> Iterator[Row]:
    """Yield means over several seeds and their standard deviation; schema `SUMMARY`."""
    for line in summary.filter(pl.col("deviation").is_not_null()).iter_rows(named=True):
        row = _row({**line, "value": line["mean"]})
        yield row
        yield Row(*row[:2], f"{row.metric}_deviation", line["deviation"], line["seeds"])


def gains(effects: pl.DataFrame) -> Iterator[Row]:
    """Yield paired gains, and the share of errors that they remove; schema `EFFECTS`."""
    for line in effects.iter_rows(named=True):
        row = _comparison({**line, "value": line["gain"]})
        yield row._replace(metric=f"gain_{row.metric}")
        if line["errors_removed"] is not None:
            yield row._replace(metric="errors_removed", value=line["errors_removed"], **NO_ENDS)


def verdicts(kept_up: pl.DataFrame) -> Iterator[Row]:
    """Yield non-inferiority to mix 3, 1 or 0, and the bound it rests on; schema `KEPT_UP`."""
    for line in kept_up.iter_rows(named=True):
        row = _comparison({**line, "metric": "non_inferior", "value": float(line["passed"])})
        yield row._replace(**NO_ENDS)
        yield row._replace(metric="holm_low_success_at_1", value=line["low"], **NO_ENDS)


def bounds(workspace: Workspace) -> Iterator[Row]:
    """Yield updates and similar pairs an update, which all mixes have alike."""
    train = workspace.params.train
    for metric, value in (("steps", train.max_steps), ("batch_pairs", train.batch_pairs)):
        yield Row("every_mix", "training", metric, value, len(workspace.params.seeds))


NO_ENDS: dict[str, Any] = {"low": None, "high": None}


def _row(line: dict[str, Any]) -> Row:
    figures = [line[name] for name in ("metric", "value", "n", "low", "high")]
    figures.append(line.get("seed"))
    return Row(line["system"], sliced(line["test"], line["slice"]), *figures)


def _comparison(line: dict[str, Any]) -> Row:
    return _row({"high": None, **line, "system": f"{line['system']}-{line['over']}"})
