"""The stages, from `dvc.yaml`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from reference_tables import table

HEAD = """# Stages

`dvc.yaml` is the only list of stages. A stage runs again if a file or parameter that it reads has
changed. `K` stands for a [mix](../concepts/terms.md#mix), `SEED` for a seed of training.
"""
KEYS = {"item.k": "K", "item.seed": "SEED", "key": "K"}


def stages_page(root: Path) -> str:
    """Write the page."""
    graph = yaml.safe_load((root / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    rows = []
    for name, stage in graph.items():
        body = stage.get("do", stage)
        writes = [*body.get("outs", []), *body.get("metrics", [])]
        rows.append(
            (f"`{name}`", body["desc"], code(body.get("params", [])), code(map(path_of, writes)))
        )
    return f"{HEAD}\n{table(('stage', 'makes', 'parameters', 'writes'), rows)}\n"


def path_of(output: str | dict[str, Any]) -> str:
    """Return the path of an output, which may stand above its options."""
    return output if isinstance(output, str) else next(iter(output))


def code(names: Iterable[str]) -> str:
    """Write names of parameters or files, their variables as one knows them."""
    return ", ".join(f"`{readable(name)}`" for name in names)


def readable(name: str) -> str:
    """Replace the variables of a stage's instances by short words."""
    for variable, short in KEYS.items():
        name = name.replace("${" + variable + "}", short)
    return name.replace("${", "{")
