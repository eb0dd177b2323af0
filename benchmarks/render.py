"""The generated blocks of the studies' pages, their plots, and the README's tables.

Run it with `python -m benchmarks.render`. Equal files give equal bytes; nothing is measured here.
The text around the blocks is written by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks import readme
from benchmarks.pages.tables import Table, datasets, where
from benchmarks.pages.unlearned import marked
from benchmarks.results import FOLDER, Line, Lines, read_rows, read_runs
from benchmarks.study import Study, studies
from models.reproducibility.atomic_write import write_bytes

PAGES = Path("docs/results")


def pages(folder: Path = FOLDER, texts: Path = PAGES) -> dict[Path, str]:
    """Return every page and plot of the studies by its path.

    Args:
        folder: of the CSV files.
        texts: folder of the committed pages.
    """
    runs, made = read_runs(folder), {}
    for one in studies():
        rows = marked(read_rows(folder / f"{one.name}.csv"))
        if rows:
            page = texts / f"{one.name}.md"
            block = "\n\n".join([*tables(one, rows), *measured(rows, runs)])
            text = readme.between_markers(page.read_text(encoding="utf-8"), "figures", block)
            made[PAGES / page.name] = text
            if one.page:
                made[PAGES / f"{one.name}.svg"] = one.page.plot(rows)
    return made


def tables(one: Study, rows: Lines) -> Iterator[str]:
    """Yield the tables of `study.yaml`."""
    face = one.face
    paper = getattr(one.measuring, "PAPER", face.get("paper", {}))
    names = getattr(one.measuring, "NAMES", {})
    for table in face.get("tables", []):
        yield from Table(**table).parts(rows, face.get("systems", []), paper, names)


def measured(rows: Lines, runs: dict[str, Line]) -> Iterator[str]:
    """Yield a line for each run: date, commit, machine, command."""
    for dataset in datasets(rows):
        for name in sorted({row["run"] for row in where(rows, dataset=dataset)}):
            run = runs[name]
            yield (
                f"Measured ({dataset}): {run['date']}, commit `{run['commit']}`, "
                f"{run['machine']}, `{run['command']}`"
            )


def main() -> None:
    """Write all pages, their plots, and the README's tables."""
    made = pages()
    for path, text in made.items():
        write_bytes(text.encode(), path)
    print(f"rendered {len(made)} files in {PAGES}")
    if readme.README.is_file():
        text = readme.readme(readme.README.read_text(encoding="utf-8"))
        write_bytes(text.encode(), readme.README)
        print(f"rendered {readme.README}")


if __name__ == "__main__":
    main()
