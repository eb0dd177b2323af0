"""The benchmark's figures as tables on the terminal and as a block of the README."""

from __future__ import annotations

from pathlib import Path

from benchmarks.pages.tables import datasets, distinct, where
from benchmarks.product.figures import CUT
from benchmarks.product.systems import COST, OURS, SPEED
from benchmarks.results import FOLDER, Line, Lines, read_rows, read_runs
from benchmarks.systems import SENTENCES
from benchmarks.workspace import DEFAULT
from tasks.pipeline.report.names import aligned

SYSTEMS = {OURS: "Rolecall", "tfidf": "TF-IDF", "ngram": "n-gram matcher", SENTENCES: "MiniLM"}
TESTS = {
    "vacancies": "titles of a job board",
    "vacancies_odd": "titles of a job board",
    "annotations": "labelled inputs",
    "typos": "typing errors",
    "composition": "synonyms put in",
    "extra_words": "extra words",
}
"""In the order of the README, which shows most of the first that was measured."""


def table(lines: Lines) -> str:
    """Write one table a test: a row a system, a column a metric."""
    cells, tables = _cells(lines, ends=True), []
    for test in distinct(lines, "test"):
        systems, metrics = (
            distinct(where(lines, test=test), name) for name in ("system", "metric")
        )
        rows = [[s, *(cells.get((s, test, m), "") for m in metrics)] for s in systems]
        tables.append(aligned([test, *metrics], rows))
    return "\n\n".join(tables)


def readme_block(folder: Path = FOLDER) -> str:
    """Write a table of the default profile, or of the first data set that was measured.

    Below it stand further figures and provenance. Systems that another run measured are left out,
    because speeds of two runs do not compare.
    """
    lines, runs = read_rows(folder / "product.csv"), read_runs(folder)
    lines = where(lines, dataset=DEFAULT) or where(lines, dataset=datasets(lines)[0])
    lines = where(lines, run=where(lines, system=OURS)[0]["run"])
    plain, spans = (_cells(lines, ends=ends) for ends in (False, True))
    measured = {line["test"] for line in lines}
    first, *others = [test for test in TESTS if test in measured]
    columns = {f"among {CUT}": (first, f"success_at_{CUT}"), "abstained": (first, "abstained")}
    columns |= {TESTS[test]: (test, "success_at_1") for test in others}
    columns |= {"titles/s": (COST, SPEED), "MB": (COST, "megabytes")}
    rows = [
        [name, spans[system, first, "success_at_1"]]
        + [plain.get((system, *column), "") for column in columns.values()]
        for system, name in SYSTEMS.items()
        if (system, first, "success_at_1") in spans
    ]
    [ours] = where(lines, system=OURS, test=first, metric="success_at_1")
    share, correct, error = (
        plain.get((OURS, first, name), "–")
        for name in ("confident", "confident_correct", "calibration_error")
    )
    wait, run = plain.get((OURS, COST, "milliseconds_per_title"), "–"), runs[ours["run"]]
    head = ["", f"{TESTS[first]}, first answer", *columns]
    return f"""{aligned(head, rows)}

Shares of {ours["n"]} {TESTS[first]} and of other tests, where an abstention counts as incorrect;
speed on one thread, {wait} ms for a single title. Confidence is 0.8 or more for {share} of the
{TESTS[first]}, and {correct} of these answers are correct; the expected calibration error is
{error}.

Measured {run["date"]}: `{run["command"]}`, commit {run["commit"]}, {run["machine"]} \
([all figures](results/product.csv))."""


def _cells(lines: Lines, *, ends: bool) -> dict[tuple[str, str, str], str]:
    """Return figures as text, by system, test and metric."""
    return {(line["system"], line["test"], line["metric"]): _cell(line, ends) for line in lines}


def _cell(line: Line, ends: bool) -> str:
    """Write a share with three decimals, a cost as in the file, and its interval."""
    value, *span = (
        line[name] if line["test"] == COST else f"{float(line[name]):.3f}"
        for name in ("value", "low", "high")
        if line[name]
    )
    return f"{value} [{', '.join(span)}]" if ends and span else value
