"""Figures as `results/product.csv`, as tables on the terminal, and as a block of the README."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from benchmarks.product.figures import DEPTH, Figure
from benchmarks.product.systems import COST, OURS, SENTENCES, SPEED
from benchmarks.results import rounded
from models.reproducibility.atomic_write import write_bytes
from tasks.pipeline.report.aligned_table import aligned

FILE = Path("results/product.csv")
SYSTEMS = {OURS: "Rolecall", "tfidf": "TF-IDF", "ngram": "n-gram matcher", SENTENCES: "MiniLM"}
TESTS = {
    "vacancies": "titles of a job board",
    "annotations": "labelled inputs",
    "typos": "typing errors",
    "composition": "synonyms put in",
    "extra_words": "extra words",
}
"""In the order of the README; of the first that was measured it shows most."""
Cells = Mapping[tuple[str, str, str], str]
"""Figures as text, by system, test and metric."""


def lines_of(dataset: str, figures: Iterable[Figure], run: Mapping[str, str]) -> pl.DataFrame:
    """Return the file's rows as text: `dataset`, the figure, and model, commit, date and so on."""
    rows = [
        {"dataset": dataset}
        | {k: rounded(v) if isinstance(v, float) else v for k, v in figure._asdict().items()}
        | dict(run)
        for figure in figures
    ]
    return pl.DataFrame(rows, infer_schema_length=None).cast(pl.String)


def replace(lines: pl.DataFrame, file: Path) -> None:
    """Write rows in the place of all earlier ones of their data set."""
    if file.is_file():
        before = pl.read_csv(file, infer_schema=False)
        kept = before.filter(~pl.col("dataset").is_in(lines["dataset"].unique().to_list()))
        lines = pl.concat([lines, kept]).sort("dataset", maintain_order=True)
    write_bytes(lines.write_csv().encode(), file)


def table(lines: pl.DataFrame) -> str:
    """Write one table a test: a row a system, a column a metric."""
    cells, made = _cells(lines, ends=True), []
    for (test,), own in lines.group_by("test", maintain_order=True):
        systems, metrics = (own[name].unique(maintain_order=True) for name in ("system", "metric"))
        rows = [[s, *(cells.get((s, str(test), m), "") for m in metrics)] for s in systems]
        made.append(aligned([str(test), *metrics], rows))
    return "\n\n".join(made)


def readme_block(file: Path) -> str:
    """Write what the README shows: a table for each data set, and where its figures are from."""
    lines = pl.read_csv(file, infer_schema=False)
    return "\n\n".join(_block(own) for _, own in lines.group_by("dataset", maintain_order=True))


def _block(lines: pl.DataFrame) -> str:
    plain, spans = (_cells(lines, ends=ends) for ends in (False, True))
    first, *others = [test for test in TESTS if test in lines["test"]]
    columns = {f"among {DEPTH}": (first, f"success_at_{DEPTH}"), "no answer": (first, "abstained")}
    columns |= {TESTS[test]: (test, "success_at_1") for test in others}
    columns |= {"titles/s": (COST, SPEED), "MB": (COST, "megabytes")}
    rows = [
        [name, spans[system, first, "success_at_1"]]
        + [plain.get((system, *column), "") for column in columns.values()]
        for system, name in SYSTEMS.items()
        if system in lines["system"]
    ]
    run = lines.row(0, named=True)
    confident, right, error, wait = (
        plain.get((OURS, *key), "–")
        for key in (
            *((first, metric) for metric in ("confident", "confident_right", "calibration_error")),
            (COST, "milliseconds_per_title"),
        )
    )
    note = (
        f"Shares of {run['n']} {TESTS[first]} [95 % interval] and, by columns, of other tests; no "
        "answer counts as wrong; speed on one thread. Rolecall is sure (confidence 0.8 or more) of "
        f"{confident} of them and then right for {right}; its expected calibration error is "
        f"{error}. A single title takes {wait} ms. [All figures](results/product.csv), of "
        f"`{run['model']}`, were measured by `{run['command']}` on {run['date']} with commit "
        f"{run['commit']} on {run['machine']}."
    )
    return f"{aligned(['', f'{TESTS[first]}, first answer', *columns], rows)}\n\n{note}"


def _cells(lines: pl.DataFrame, *, ends: bool) -> Cells:
    return {
        (line["system"], line["test"], line["metric"]): _cell(line, ends=ends)
        for line in lines.iter_rows(named=True)
    }


def _cell(line: Mapping[str, str], *, ends: bool) -> str:
    """Write a share with three decimals, a cost as it stands in the file, and its interval."""
    value, *span = (
        line[name] if line["test"] == COST else f"{float(line[name]):.3f}"
        for name in ("value", "low", "high")
        if line[name]
    )
    return f"{value} [{', '.join(span)}]" if ends and span else value
