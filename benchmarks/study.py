"""Studies, found as encoders are: a study is a folder below `benchmarks/studies/`, named nowhere.

A folder `studies/NAME/` holds `study.yaml`, `measure.py`, and, where a table or a plot needs code,
`page.py`. In `study.yaml` stand:

- `order` on the page, `question`, `answer` and `introduction`, by a person, with figures that are
  read from the results, and `claims`, which have to hold (`benchmarks/pages/said.py`);
- `datasets` measured unless others are named, `needs`, a file of their workspaces or below
  `$ROLECALL_DATA`, `before`, the command that makes it (`before_of`: data set to another one), and
  `options` with their defaults;
- `replaces`: `dataset`, if one list of rows takes the place of all earlier ones of a data set, or
  `system`, if each list does so for systems of its own;
- `summary` and `tables`: tables of `docs/RESULTS.md` and `docs/results/NAME.md`
  (`benchmarks/pages/page_tables.py`), `systems` in their order, `paper`, figures to stand beside;
- `plot`, what the plot of `page.py` shows, `published`, figures of others to draw in it, and
  `figures`, further ones of the study's own page: a function of `page.py` to what it shows;
- `names`: column to name to meaning, of every name in its rows that `benchmarks/names.yaml` does
  not explain; a name may hold `<number>` or `<text>`.

`measure.py` has `measure(dataset, options)`, which yields lists of `Row`; each is written before
the next is made. What trains yields the rows of `tuning.learning` too, so that pages say what did
not learn. `page.py` may have `tables(results)`, parts of Markdown that stand before the tables of
`study.yaml`, and `plot(results)`, an SVG.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

from benchmarks.results import Lines

HERE = Path(__file__).parent
OUTSIDE = "$ROLECALL_DATA/"
"""How the path of a publisher's file begins, in `needs`."""
NAMED = ("dataset", "system", "test", "metric")
SPLIT = {"system": r"[/+-]", "test": "/"}
"""What stands between the parts of a name that are explained each by itself."""
PATTERNS = {"<number>": r"[\d.]+", "<text>": ".+"}


@dataclass(frozen=True)
class Study:
    """One folder of `studies/`; its modules are imported when they are first asked for."""

    name: str

    @property
    def face(self) -> dict[str, Any]:
        """What `study.yaml` says."""
        return _yaml(HERE / "studies" / self.name / "study.yaml")

    def needs(self, dataset: str) -> str:
        """Return the file that it needs of a data set."""
        needs = self.face["needs"]
        return str(needs[dataset] if isinstance(needs, dict) else needs)

    @property
    def measuring(self) -> ModuleType:
        """Its module `measure`."""
        return import_module(f"benchmarks.studies.{self.name}.measure")

    @property
    def page(self) -> ModuleType | None:
        """Its module `page`, if it has one."""
        file = HERE / "studies" / self.name / "page.py"
        return import_module(f"benchmarks.studies.{self.name}.page") if file.is_file() else None

    def meanings(self, rows: Lines) -> Iterator[tuple[str, str, str]]:
        """Yield (column, name, meaning) of every name in `rows`, in the order of the files."""
        shared = _yaml(HERE / "names.yaml")
        for column in NAMED:
            own = self.face.get("names", {}).get(column, {})
            known: dict[str, str] = own | {k: v for k, v in shared[column].items() if k not in own}
            used = set()
            for part in _parts(column, rows):
                name = next((name for name in known if re.fullmatch(_pattern(name), part)), None)
                if name is None:
                    raise ValueError(f"{self.name}: {column} {part!r} has no meaning in study.yaml")
                used.add(name)
            yield from ((column, name, known[name]) for name in known if name in used)


def studies() -> list[Study]:
    """Return every study in the order of the page."""
    folders = (file.parent for file in (HERE / "studies").glob("*/study.yaml"))
    listed = [Study(folder.name) for folder in folders]
    return sorted(listed, key=lambda study: (study.face["order"], study.name))


def study(name: str) -> Study:
    """Return the study of this name."""
    names = [one.name for one in studies()]
    if name not in names:
        raise ValueError(f"no study {name!r}; choose {', '.join(names)}")
    return Study(name)


def _parts(column: str, rows: Lines) -> set[str]:
    """Return the parts of all names of a column, and a word for each way to join them."""
    parts: set[str] = set()
    for name in {row[column] for row in rows}:
        parts.update(re.split(SPLIT[column], name) if column in SPLIT else [name])
        if column == "system":
            parts.update(f"a{sign}b" for sign in "+-" if sign in name)
    return parts


@cache
def _yaml(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def _pattern(name: str) -> str:
    pattern = re.escape(name)
    for mark, expression in PATTERNS.items():
        pattern = pattern.replace(re.escape(mark), expression)
    return pattern
