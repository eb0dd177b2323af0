"""The rules of the house: who imports whom, and that `dvc.yaml` tells the truth."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
import yaml
from import_closure import PACKAGES, ROOT, import_closure

ALLOWED = {
    "models": {"torch", "numpy", "scipy", "pyarrow", "safetensors", "models"},
    "tasks": None,
    "flows": None,
}
FORBIDDEN = {"models": set(), "tasks": {"prefect", "flows"}, "flows": {"polars", "torch", "models"}}
STAGES = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def run_time_imports(path: Path) -> set[str]:
    """Top-level names that a module imports when it runs: TYPE_CHECKING blocks are left out."""
    found = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            return
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(path.read_text(encoding="utf-8")))
    return found - set(sys.stdlib_module_names)


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_downwards_only(package: str) -> None:
    for path in modules(package):
        imports = run_time_imports(path)
        assert not imports & FORBIDDEN[package], path
        if ALLOWED[package] is not None:
            assert imports <= ALLOWED[package], path


def body(stage: dict) -> dict:
    return stage.get("do", stage)


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_names_every_local_module_behind_it(name: str) -> None:
    stage = body(STAGES[name])
    module = stage["cmd"].split("python -m ")[1].split()[0]
    named = [dep for dep in stage["deps"] if dep.endswith(".py")]
    assert named == import_closure(module)
    assert module == f"tasks.{name}"
    assert stage["desc"]


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_tracks_its_own_section(name: str) -> None:
    sections = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    tracked = body(STAGES[name])["params"]
    assert {parameter.split(".")[0] for parameter in tracked} <= set(sections)
    assert name in tracked


def test_readme_lists_the_stages() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, stage in STAGES.items():
        assert f"| `{name}` | {body(stage)['desc']} |" in readme


def test_no_source_file_holds_a_path_of_a_machine() -> None:
    for path in [*modules("flows"), *modules("tasks"), *modules("models"), ROOT / "dvc.yaml"]:
        text = path.read_text(encoding="utf-8")
        assert not any(f"{place}/" in text for place in (Path.home(), ROOT.parent)), path
