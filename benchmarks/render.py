"""`docs/RESULTS.md` and the README's tables from `results/*.csv` and `dvc.yaml` alone.

Run it with `python -m benchmarks.render`. Equal files give equal bytes; nothing is measured here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import yaml

from benchmarks import names
from benchmarks.chosen_rows import place
from benchmarks.conclusions import CONCLUSIONS
from benchmarks.markdown_tables import Rows, markdown, pivot
from benchmarks.results_file import FOLDER, read_rows
from benchmarks.sections import MODES, SECTIONS, in_order
from models.whole_file import write_bytes

PAGE = Path("docs/RESULTS.md")
README = Path("README.md")
STAGES = Path("dvc.yaml")
HEAD = """# Results

Written by `python -m benchmarks.render` from `results/*.csv`; `make results` measures again.
Every name is explained in the last table."""


def page(folder: Path = FOLDER) -> str:
    """The whole of `docs/RESULTS.md`."""
    parts = [HEAD]
    for experiment, section in SECTIONS.items():
        rows = in_order(read_rows(folder / f"{experiment}.csv"))
        if rows:
            introduction, *tables = section(rows)
            said = [CONCLUSIONS[experiment]] if experiment in CONCLUSIONS else []
            parts += [f"## {experiment}", introduction, *said, *tables, *_measured(rows)]
    lines = [(column, f"`{name}`", meaning) for column, name, meaning in names.table()]
    parts += ["## Names", markdown(("column", "name", "meaning"), lines)]
    return "\n\n".join(parts) + "\n"


def readme_table(folder: Path = FOLDER) -> str:
    """success@1 of every system, a column per test; the modes of a few steps are left out."""
    rows = [
        row
        for row in in_order(read_rows(folder / "pipeline.csv"))
        if row["metric"] == "success_at_1" and "/" not in row["test"] and row["system"] not in MODES
    ]
    if not rows:
        return "Nothing measured yet: `make results`."
    ordered = sorted(rows, key=lambda row: row["dataset"] != "sample")
    note = (
        "success@1 with 95 % intervals; all figures and names: [docs/RESULTS.md](docs/RESULTS.md)."
    )
    return pivot(ordered, ("dataset", "system"), "test") + "\n\n" + note


def stage_table(stages: Path = STAGES) -> str:
    """The stages of `dvc.yaml` with what each makes."""
    listed = yaml.safe_load(stages.read_text(encoding="utf-8"))["stages"]
    rows = [(f"`{name}`", stage.get("do", stage)["desc"]) for name, stage in listed.items()]
    return markdown(("stage", "makes"), rows)


def between_markers(text: str, name: str, content: str) -> str:
    """`text` with `content` between ``<!-- name:begin -->`` and ``<!-- name:end -->``.

    Raises:
        ValueError: the two markers do not stand in it, once each and in order.
    """
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise ValueError(f"README.md needs {begin} and, after it, {end}, once each")
    before, _, rest = text.partition(begin)
    return f"{before}{begin}\n{content}\n{end}{rest.partition(end)[2]}"


def _measured(rows: Rows) -> Iterator[str]:
    """Commands and machines, each with what it measured."""
    groups: dict[tuple[str, str], dict[str, None]] = {}
    for row in sorted(rows, key=place):
        what = groups.setdefault((row["command"], row["machine"]), {})
        what[f"{row['dataset']}: {row['system']}"] = None
    yield markdown(
        ("measured", "command", "machine"),
        [(_listed(what), f"`{command}`", where) for (command, where), what in groups.items()],
    )


def _listed(what: dict[str, None]) -> str:
    systems: dict[str, list[str]] = {}
    for name in what:
        dataset, _, system = name.partition(": ")
        systems.setdefault(dataset, []).append(system)
    ordered = sorted(systems, key=lambda dataset: (dataset != "sample", dataset))
    return "; ".join(f"{dataset}: {', '.join(systems[dataset])}" for dataset in ordered)


def main() -> None:
    """Write the page, and the README's table where there is a README."""
    write_bytes(page().encode(), PAGE)
    print(f"rendered {PAGE}")
    if README.is_file():
        text = between_markers(README.read_text(encoding="utf-8"), "results", readme_table())
        text = between_markers(text, "stages", stage_table())
        write_bytes(text.encode(), README)
        print(f"rendered {README}")


if __name__ == "__main__":
    main()
