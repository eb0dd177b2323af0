"""The paper's Table 3 on our data: copies the pipeline's figures and measures nothing.

The plot has success@1 of every mix on the paper's tests, ours and the paper's.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.pages.plots import curves, svg
from benchmarks.pages.tables import datasets, over_seeds, where
from benchmarks.results import BEST_STEP, Lines, Row
from benchmarks.workspace import SAMPLE, Workspace, place
from tasks.evaluation.metric_tables import read_table
from tasks.io.mixes import MIXES, PAPER_NUMBERS
from tasks.io.schemas import HISTORY, TABLE
from tasks.papers.table3.effects import EFFECTS
from tasks.papers.table3.paper import ACCURACY, TESTS
from tasks.papers.table3.tables import SUMMARY
from tasks.pipeline.report.sections.learning import best_look

LEXICAL = Path("data/lexical/table.csv")
EFFECTS_FILE = "data/table3/effects.csv"
PAPER = {
    "table3": {
        test: {system: value for (system, own), value in ACCURACY.items() if own == test}
        for test in TESTS
    }
}
"""The paper's figures, for the page: test to system to success@1."""
NAMES = {mix: f"{mix} ({number})" for mix, number in PAPER_NUMBERS.items()}
"""Mixes with the paper's numbers, for the page."""
PLOTTED = MIXES[:-1]
"""The mixes that the paper has figures of."""


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Yield every row of a workspace."""
    workspace = Workspace.read(dataset)
    rows = [*lexical(workspace), *networks(workspace)]
    if (workspace.folder / EFFECTS_FILE).is_file():
        folder = workspace.data / "table3"
        rows += means(read_table(folder / "summary.csv", SUMMARY))
        rows += gains(read_table(folder / "effects.csv", EFFECTS))
    yield rows


def lexical(workspace: Workspace) -> Iterator[Row]:
    """Yield the systems that learn nothing, unless the sample has equal figures."""
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
            looks = read_table(workspace.files("train", mix, seed) / "history.csv", HISTORY)
            best, _ = best_look(looks) or (0, 0.0)
            yield Row(mix, "training", BEST_STEP, best, 1, seed=seed)


def means(summary: pl.DataFrame) -> Iterator[Row]:
    """Yield means over several seeds; schema `SUMMARY`."""
    for line in summary.filter(pl.col("deviation").is_not_null()).iter_rows(named=True):
        yield _row({**line, "value": line["mean"]})


def gains(effects: pl.DataFrame) -> Iterator[Row]:
    """Yield paired gains of a mix over another; schema `EFFECTS`."""
    for line in effects.iter_rows(named=True):
        system, metric = f"{line['system']}-{line['over']}", f"gain_{line['metric']}"
        yield _row({**line, "system": system, "metric": metric, "value": line["gain"]})


def _row(line: dict[str, Any]) -> Row:
    figures = [line[name] for name in ("metric", "value", "n", "low", "high")]
    figures.append(line.get("seed"))
    test = line["test"] if line["slice"] == "all" else f"{line['test']}/{line['slice']}"
    return Row(line["system"], test, *figures)


def plot(rows: Lines) -> str:
    """Draw a panel for each test, a line for each data set that has all mixes."""
    means = over_seeds(where(rows, metric="success_at_1"))
    panels = {}
    for test in TESTS:
        lines: dict[str, dict[str, float]] = {}
        for dataset in datasets(means):
            own = where(means, dataset=dataset, test=test)
            lines[dataset] = {row["system"]: float(row["value"]) for row in own}
        lines["Neculoiu et al. 2016"] = PAPER["table3"][test]
        panels[test] = [
            (name, [values.get(mix) for mix in PLOTTED])
            for name, values in lines.items()
            if values.keys() >= {*PLOTTED}
        ]
    ticks = [PAPER_NUMBERS[mix] for mix in PLOTTED]
    label = "mix: " + ", ".join(f"{PAPER_NUMBERS[mix]} {mix}" for mix in PLOTTED)
    return svg("table3", lambda whole: curves(whole, ticks, panels, label, "success@1"))
