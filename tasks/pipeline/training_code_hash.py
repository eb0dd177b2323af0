"""Stage `training_code_hash`: a hash of each module behind a training, comments left out.

In: the modules that `tasks.pipeline.train` imports, directly or not, and those of the encoder
and loss of `params.yaml`. Out: `data/training_code_hash/train.json`, path to hash. Networks depend
on this file, not on the modules: a changed comment or docstring retrains nothing.
"""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tasks.io.command import ROOT, run
from tasks.io.files import write_json
from tasks.io.section import read_values

PACKAGES = ("flows", "tasks", "models")


def code_of(module: str, encoder: str, loss: str) -> dict[str, str]:
    """Hash a module (dotted name), all local ones behind it, and those of its encoder and loss."""
    files = import_closure([module, f"models.encoders.{encoder}", f"models.losses.{loss}"])
    return {path.relative_to(ROOT).as_posix(): code_hash(path) for path in sorted(files)}


def import_closure(modules: Iterable[str], packages: Sequence[str] = PACKAGES) -> set[Path]:
    """Return the files of dotted modules and of all of `packages` that they import at run time."""
    files = {_file(module) for module in modules}
    unread = list(files)
    while unread:
        new = set(_local_imports(unread.pop(), packages)) - files
        files |= new
        unread += new
    return files


def code_hash(path: Path) -> str:
    """Hash a module without comments, docstrings and empty lines; the same for any Python."""
    text = path.read_text(encoding="utf-8")
    lines = dict(enumerate(text.split("\n"), start=1))
    verbatim: set[int] = set()  # lines that end within a string
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        (row, column), (last, _) = token.start, token.end
        if token.type == tokenize.COMMENT:
            lines[row] = lines[row][:column]
        verbatim.update(range(row, last))
    for node in ast.walk(ast.parse(text)):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            for row in range(value.lineno, (value.end_lineno or value.lineno) + 1):
                lines.pop(row, None)
    kept = {row: line if row in verbatim else line.rstrip() for row, line in lines.items()}
    code = "\n".join(line for row, line in kept.items() if line or row in verbatim)
    return hashlib.sha256(code.encode()).hexdigest()[:20]


def _local_imports(path: Path, packages: Sequence[str]) -> Iterator[Path]:
    for node in _run_time(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        local = (_file(name) for name in names if name.split(".")[0] in packages)
        yield from filter(Path.is_file, local)


def _run_time(node: ast.AST) -> Iterator[ast.AST]:
    """Walk a tree, the blocks for type checkers left out."""
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _run_time(child)


def _file(module: str) -> Path:
    path = ROOT / Path(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def main() -> None:
    """Run the stage in the working directory."""
    encoder, loss = (read_values()["train"][part]["kind"] for part in ("encoder", "loss"))
    hashes = code_of("tasks.pipeline.train", encoder, loss)
    write_json(hashes, Path("data/training_code_hash/train.json"))


if __name__ == "__main__":
    run(main)
