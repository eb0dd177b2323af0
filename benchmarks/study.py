"""Studies: a folder of `benchmarks/studies/` each, named nowhere else.

A folder holds `measure.py` and `study.yaml`.

- `measure.py` has `measure(dataset, options)`, which yields lists of `Row`. Each list is written
  before the next one is made. If the study has a plot, `plot(rows)` returns it as SVG.
- `study.yaml` has `question`, `datasets`, `needs` (a file of the workspace or below
  `$ROLECALL_DATA`), `before` (the command that makes it), `options` with their defaults, and for
  the page `systems` in their order, `tables` (`benchmarks/pages/tables.py`) and `paper`, figures
  of a paper.

The text of the page is written by hand in `docs/results/NAME.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

STUDIES = Path(__file__).parent / "studies"
OUTSIDE = "$ROLECALL_DATA/"
"""How the path of a publisher's file begins, in `needs`."""


@dataclass(frozen=True)
class Study:
    """One folder of `studies/`; its modules are imported when they are first needed."""

    name: str

    @property
    def config(self) -> dict[str, Any]:
        """Content of `study.yaml`."""
        return _yaml(STUDIES / self.name / "study.yaml")

    @property
    def measuring(self) -> ModuleType:
        """Its module `measure`."""
        return import_module(f"benchmarks.studies.{self.name}.measure")


def studies() -> list[Study]:
    """Return every study by its name."""
    return [Study(file.parent.name) for file in sorted(STUDIES.glob("*/study.yaml"))]


def study(name: str) -> Study:
    """Return the study of this name.

    Raises:
        ValueError: there is none.
    """
    names = [one.name for one in studies()]
    if name not in names:
        raise ValueError(f"no study {name!r}; choose {', '.join(names)}")
    return Study(name)


@cache
def _yaml(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content
