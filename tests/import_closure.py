"""Which local files a module imports, directly or not: what its DVC stage must name as deps.

`models/kinds.py` imports encoders and losses by their names: behind it stand all of them, which a
stage names as their folders.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("flows", "tasks", "models")
KINDS = ROOT / "models/kinds.py"
FOLDERS = (ROOT / "models/encoders", ROOT / "models/losses")


def local_imports(path: Path) -> set[Path]:
    """Local files that the module at `path` imports, package `__init__` files left out."""
    found = {file for folder in FOLDERS for file in folder.glob("*.py")} if path == KINDS else set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            if name.split(".")[0] in PACKAGES:
                file = ROOT / Path(*name.split(".")).with_suffix(".py")
                if file.is_file():
                    found.add(file)
    return found


def import_closure(module: str) -> list[str]:
    """All local files behind `module` (dotted), itself first, relative to the root."""
    first = ROOT / Path(*module.split(".")).with_suffix(".py")
    seen, open_files = {first}, [first]
    while open_files:
        new = local_imports(open_files.pop()) - seen
        seen |= new
        open_files += new
    named = {path.parent if path.parent in FOLDERS else path for path in seen - {first}}
    return [str(path.relative_to(ROOT)) for path in (first, *sorted(named))]
