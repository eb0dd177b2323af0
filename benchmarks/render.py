"""The generated blocks of the studies' pages, their plots, and the README's tables.

Run it with `python -m benchmarks.render`. Equal files give equal bytes; nothing is measured here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.answer_figures import CUT
from benchmarks.results import FOLDER, Line, Lines, read_rows, read_runs
from benchmarks.study import Study, studies
from benchmarks.systems import COST, OURS, SENTENCES, SPEED
from benchmarks.tables import Table, datasets, distinct, marked, where
from benchmarks.workspace import DEFAULT
from models.reproducibility import write_bytes
from tasks.pipeline.report.names import aligned

PAGES, README = Path("docs/results"), Path("README.md")
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


def pages(folder: Path = FOLDER, texts: Path = PAGES) -> dict[Path, str]:
    """Return every page and plot by its path, from the CSV files and the committed pages."""
    runs, made = read_runs(folder), {}
    for one in studies():
        rows = marked(read_rows(folder / f"{one.name}.csv"))
        if rows:
            text = (texts / f"{one.name}.md").read_text(encoding="utf-8")
            block = "\n\n".join(study_block(one, rows, runs))
            made[PAGES / f"{one.name}.md"] = between_markers(text, "figures", block)
            if hasattr(one.measuring, "plot"):
                made[PAGES / f"{one.name}.svg"] = one.measuring.plot(rows)
    return made


def study_block(one: Study, rows: Lines, runs: dict[str, Line]) -> Iterator[str]:
    """Yield the tables of a study's YAML, and a line for each run."""
    config, systems = one.config, one.config.get("systems", [])
    paper = getattr(one.measuring, "PAPER", config.get("paper", {}))
    names = getattr(one.measuring, "NAMES", {})
    for table in config.get("tables", []):
        yield from Table(**table).parts(rows, systems, paper, names)
    for dataset in datasets(rows):
        for name in sorted({row["run"] for row in where(rows, dataset=dataset)}):
            run = runs[name]
            yield (
                f"Measured ({dataset}): {run['date']}, commit `{run['commit']}`, "
                f"{run['machine']}, `{run['command']}`"
            )


def readme(text: str, folder: Path = FOLDER) -> str:
    """Return the README with its example answers and its benchmark made anew."""
    examples = (folder / "answers.md").read_text(encoding="utf-8").strip()
    text = between_markers(text, "answers", examples)
    return between_markers(text, "benchmark", readme_block(folder))


def readme_block(folder: Path = FOLDER) -> str:
    """Write table, figures and provenance of the default profile, or else the first data set."""
    lines, runs = read_rows(folder / "product.csv"), read_runs(folder)
    lines = where(lines, dataset=DEFAULT) or where(lines, dataset=datasets(lines)[0])
    lines = where(lines, run=where(lines, system=OURS)[0]["run"])
    plain, spans = (cells(lines, ends=ends) for ends in (False, True))
    measured = {line["test"] for line in lines}
    first, *others = [test for test in TESTS if test in measured]
    columns = {f"among {CUT}": (first, f"success_at_{CUT}"), "abstained": (first, "abstained")}
    columns |= {TESTS[test]: (test, "success_at_1") for test in others}
    columns |= {"titles/s": (COST, SPEED), "MB": (COST, "megabytes")}
    rows = [
        [name, span, *(plain.get((system, *column), "") for column in columns.values())]
        for system, name in SYSTEMS.items()
        if (span := spans.get((system, first, "success_at_1")))
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


def product_table(lines: Lines) -> str:
    """Write one table a test: a row a system, a column a metric."""
    values, tables = cells(lines, ends=True), []
    for test in distinct(lines, "test"):
        own = where(lines, test=test)
        systems, metrics = distinct(own, "system"), distinct(own, "metric")
        rows = [[s, *(values.get((s, test, m), "") for m in metrics)] for s in systems]
        tables.append(aligned([test, *metrics], rows))
    return "\n\n".join(tables)


def cells(lines: Lines, *, ends: bool) -> dict[tuple[str, str, str], str]:
    """Return figures as text by system, test and metric; shares have three decimals."""
    texts = {}
    for line in lines:
        value, *span = (
            line[name] if line["test"] == COST else f"{float(line[name]):.3f}"
            for name in ("value", "low", "high")
            if line[name]
        )
        text = f"{value} [{', '.join(span)}]" if ends and span else value
        texts[line["system"], line["test"], line["metric"]] = text
    return texts


def between_markers(text: str, name: str, content: str) -> str:
    """Return `text` with `content` between its markers, or raise a ValueError about these."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise ValueError(f"the page needs {begin} and, after it, {end}, once each")
    before, _, rest = text.partition(begin)
    return f"{before}{begin}\n{content}\n{end}{rest.partition(end)[2]}"


def main() -> None:
    """Write all pages, their plots, and the README's tables."""
    made = pages()
    for path, text in made.items():
        write_bytes(text.encode(), path)
    print(f"rendered {len(made)} files in {PAGES}")
    if README.is_file():
        write_bytes(readme(README.read_text(encoding="utf-8")).encode(), README)
        print(f"rendered {README}")


if __name__ == "__main__":
    main()
