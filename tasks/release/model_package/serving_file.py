"""The module `serving` as one self-contained file, with what it imports of this repository.

Consumers have nothing of this repository, and MLflow's `code_paths` of two models collide; so what
the served model shares with training (how titles are read, featurized and refused) is copied from
its one source whenever a version is registered. Only modules that know numpy and the standard
library can be taken in.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
SERVING = Path(__file__).with_name("serving.py")
OWN = ("models", "tasks")
OWN_IMPORT = re.compile(rf"^from ((?:{'|'.join(OWN)})\.[\w.]+) import ", re.MULTILINE)


def self_contained(module: Path = SERVING) -> str:
    """Return the source of `module` behind that of every own module it imports, each once.

    Raises:
        ValueError: two of them give one name to two things.
    """
    modules = sources(module)
    names = [name for path in modules for name in _names(_parsed(_text(path)))]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{twice} mean two things in {[path.name for path in modules]}: rename")
    parts = [f"# {path.relative_to(ROOT)}\n{_without_own_imports(path)}" for path in modules]
    return "from __future__ import annotations\n\n" + "\n\n".join(parts)


def sources(module: Path = SERVING) -> list[Path]:
    """Return the files that `self_contained` reads."""
    found: dict[Path, None] = {}
    _add_sources(module, found)
    return [*found]


def _add_sources(module: Path, found: dict[Path, None]) -> None:
    """Add the own modules that this one needs, those it needs first, and this one."""
    for name in OWN_IMPORT.findall(_text(module)):  # a syntax tree takes ten times as long
        path = ROOT / f"{name.replace('.', '/')}.py"
        if path not in found:
            _add_sources(path, found)
    found[module] = None


def _imports(path: Path, *packages: str) -> Iterator[ast.ImportFrom]:
    for node in _parsed(_text(path)).body:
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] in packages:
            yield node


def _without_own_imports(path: Path) -> str:
    lines = _text(path).splitlines()
    for node in _imports(path, *OWN, "__future__"):
        for line in range(node.lineno - 1, node.end_lineno or node.lineno):
            lines[line] = ""
    return "\n".join(lines) + "\n"


@cache
def _parsed(source: str) -> ast.Module:
    return ast.parse(source)


def _names(tree: ast.Module) -> Iterator[str]:
    """Yield what a module defines at its top, imports left out."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in (part for target in targets for part in ast.walk(target)):
                if isinstance(name, ast.Name):
                    yield name.id


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
