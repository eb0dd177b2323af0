"""The paper's Table 3 on our data: copies the pipeline's figures and measures nothing."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.plots import curves, svg
from benchmarks.results import BEST_STEP, Lines, Row
from benchmarks.tables import datasets, over_seeds, where
from benchmarks.workspace import SAMPLE, Workspace, folder_of
from tasks.evaluation.metric_tables import read_table
from tasks.io.mixes import MIXES, PAPER_NUMBERS
from tasks.io.schemas import HISTORY, TABLE
from tasks.papers.table3.effects import EFFECTS, PAPER_ACCURACY, PAPER_TESTS
from tasks.papers.table3.stage import SUMMARY
from tasks.pipeline.report.overview import best_look

PRINTED = {
    test: {system: value for (system, own), value in PAPER_ACCURACY.items() if own == test}
    for test in PAPER_TESTS
}
PAPER = {"table3": PRINTED}  # figures for the page: test to system to success@1
NAMES = {mix: f"{mix} ({number})" for mix, number in PAPER_NUMBERS.items()}  # for the page
PLOTTED = tuple(PAPER_NUMBERS)[:-1]  # the mixes that the paper has figures of


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Yield every row of a workspace: also means over several seeds, and paired gains of a mix."""
    workspace = Workspace.read(dataset)
    rows = [*lexical(workspace), *networks(workspace)]
    folder = workspace.data / "table3"
    if (folder / "effects.csv").is_file():
        summary = read_table(folder / "summary.csv", SUMMARY)
        for line in summary.filter(pl.col("deviation").is_not_null()).iter_rows(named=True):
            rows.append(_row({**line, "value": line["mean"]}))
        for line in read_table(folder / "effects.csv", EFFECTS).iter_rows(named=True):
            system, metric = f"{line['system']}-{line['over']}", f"gain_{line['metric']}"
            rows.append(_row({**line, "system": system, "metric": metric, "value": line["gain"]}))
    yield rows


def lexical(workspace: Workspace) -> Iterator[Row]:
    """Yield the systems that learn nothing, unless the sample has equal figures."""
    folders = workspace.folder, folder_of(SAMPLE)
    path, own = (folder / "data/lexical/table.csv" for folder in folders)
    same = path.is_file() and own.is_file() and path.read_bytes() == own.read_bytes()
    if workspace.dataset == SAMPLE or not same:
        yield from map(_row, read_table(path, TABLE).iter_rows(named=True))


def networks(workspace: Workspace) -> Iterator[Row]:
    """Yield every mix with every seed; the untrained network is that of the first mix."""

    def table(mix: str, seed: int) -> Path:
        return workspace.files("evaluate", mix, seed) / "table.csv"

    served = table(workspace.params.mix, workspace.seed)
    if not served.is_file():
        raise FileNotFoundError(f"{served} is missing: run `make retrain`")
    mixes = [mix for mix in MIXES if table(mix, workspace.seed).is_file()]
    for mix in mixes:
        for seed in workspace.params.seeds:
            for line in read_table(table(mix, seed), TABLE).iter_rows(named=True):
                if mix in (mixes[0], line["system"]):
                    yield _row(line)._replace(seed=seed)
            looks = read_table(workspace.files("train", mix, seed) / "history.csv", HISTORY)
            best, _ = best_look(looks) or (0, 0.0)
            yield Row(mix, "training", BEST_STEP, best, 1, seed=seed)


def _row(line: dict[str, Any]) -> Row:
    figures = [line[name] for name in ("metric", "value", "n", "low", "high")]
    test = line["test"] if line["slice"] == "all" else f"{line['test']}/{line['slice']}"
    return Row(line["system"], test, *figures)._replace(seed=line.get("seed"))


def plot(rows: Lines) -> str:
    """Draw a panel for each test, a line for each data set that has all mixes."""
    means = over_seeds(where(rows, metric="success_at_1"))
    panels = {}
    for test in PAPER_TESTS:
        lines: dict[str, dict[str, float]] = {}
        for dataset in datasets(means):
            own = where(means, dataset=dataset, test=test)
            lines[dataset] = {row["system"]: float(row["value"]) for row in own}
        lines["Neculoiu et al. 2016"] = PRINTED[test]
        panels[test] = [
            (name, [values.get(mix) for mix in PLOTTED])
            for name, values in lines.items()
            if values.keys() >= {*PLOTTED}
        ]
    ticks = [PAPER_NUMBERS[mix] for mix in PLOTTED]
    label = "mix: " + ", ".join(f"{PAPER_NUMBERS[mix]} {mix}" for mix in PLOTTED)
    return svg("table3", lambda whole: curves(whole, ticks, panels, label, "success@1"))
