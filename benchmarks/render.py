"""The generated blocks of the studies' pages, their plots, and the README's tables.

Run it with `python -m benchmarks.render`. Equal files give equal bytes; nothing is measured here.
The text around the blocks is written by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.pages.tables import Table, datasets, marked, where
from benchmarks.product.page import readme_block
from benchmarks.results import FOLDER, Line, Lines, read_rows, read_runs
from benchmarks.study import Study, studies
from models.reproducibility.atomic_write import write_bytes

PAGES, README = Path("docs/results"), Path("README.md")


def pages(folder: Path = FOLDER, texts: Path = PAGES) -> dict[Path, str]:
    """Return every page and plot by its path, from the CSV files and the committed pages."""
    runs, made = read_runs(folder), {}
    for one in studies():
        rows = marked(read_rows(folder / f"{one.name}.csv"))
        if rows:
            page = texts / f"{one.name}.md"
            block = "\n\n".join([*tables(one, rows), *measured(rows, runs)])
            text = page.read_text(encoding="utf-8")
            made[PAGES / page.name] = between_markers(text, "figures", block)
            if hasattr(one.measuring, "plot"):
                made[PAGES / f"{one.name}.svg"] = one.measuring.plot(rows)
    return made


def tables(one: Study, rows: Lines) -> Iterator[str]:
    """Yield the tables of `study.yaml`."""
    config = one.config
    paper = getattr(one.measuring, "PAPER", config.get("paper", {}))
    names = getattr(one.measuring, "NAMES", {})
    for table in config.get("tables", []):
        yield from Table(**table).parts(rows, config.get("systems", []), paper, names)


def measured(rows: Lines, runs: dict[str, Line]) -> Iterator[str]:
    """Yield a line for each run: date, commit, machine, command."""
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
    return between_markers(
        between_markers(text, "answers", examples), "benchmark", readme_block(folder)
    )


def between_markers(text: str, name: str, content: str) -> str:
    """Return `text` with `content` between ``<!-- name:begin -->`` and ``<!-- name:end -->``.

    Raises:
        ValueError: a marker is missing or stands twice.
    """
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
