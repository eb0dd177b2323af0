"""Studies: `benchmarks/studies/NAME.py` and `NAME.yaml` each, named nowhere else.

- The module has `measure(dataset, options)`, which yields lists of `Row`. Each list is written
  before the next one is made. If the study has a plot, `plot(rows)` returns it as SVG.
- The YAML has `question`, `datasets`, `needs` (a file of the workspace or below `$ROLECALL_DATA`),
  `before` (the command that makes it), `options` with their defaults, and for the page `systems` in
  their order, `tables` (`benchmarks/tables.py`) and `paper`, figures of a paper.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import yaml

STUDIES = Path(__file__).parent / "studies"


class Study(NamedTuple):
    """A study and the content of its YAML; its module is imported when it is first needed."""

    name: str
    config: dict[str, Any]

    @property
    def measuring(self) -> ModuleType:
        """Its module."""
        return import_module(f"benchmarks.studies.{self.name}")


def studies() -> list[Study]:
    """Return every study by its name."""
    return [study(file.stem) for file in sorted(STUDIES.glob("*.yaml"))]


@cache
def study(name: str) -> Study:
    """Return the study of this name; ValueError if there is none."""
    file = STUDIES / f"{name}.yaml"
    if not file.is_file():
        names = ", ".join(sorted(own.stem for own in STUDIES.glob("*.yaml")))
        raise ValueError(f"no study {name!r}; choose {names}")
    return Study(name, yaml.safe_load(file.read_text(encoding="utf-8")))
