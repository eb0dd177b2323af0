"""The rules of the house: who imports whom, and that `dvc.yaml` tells the truth."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from pathlib import Path

import networkx as nx
import pytest
import yaml
from dvc.repo import Repo
from import_closure import PACKAGES, ROOT, import_closure

from models.kinds import kinds

ALLOWED = {
    "models": {"torch", "numpy", "scipy", "pyarrow", "safetensors", "models"},
    "tasks": None,
    "flows": None,
}
FORBIDDEN = {"models": set(), "tasks": {"prefect", "flows"}, "flows": {"polars", "torch", "models"}}
PARAMS = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
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


@pytest.mark.parametrize("path", [p for package in PACKAGES for p in modules(package)], ids=str)
def test_only_its_own_file_names_a_kind(path: Path) -> None:
    """Neither as a string nor by an import: a new encoder or loss is one file (and its test)."""
    others = {*kinds("encoders"), *kinds("losses")} - {path.stem}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert node.value not in others, node.lineno
        if isinstance(node, ast.ImportFrom) and node.module:
            folder, _, name = node.module.rpartition(".")
            assert folder not in ("models.encoders", "models.losses") or name not in others


@pytest.mark.parametrize("package", ["encoders", "losses"])
def test_every_kind_has_its_test(package: str) -> None:
    tests = {path.stem for path in (ROOT / "tests/models" / package).glob("test_*.py")}
    assert {f"test_{kind}" for kind in kinds(package)} <= tests


def body(stage: dict) -> dict:
    return stage.get("do", stage)


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_names_every_local_module_behind_it(name: str) -> None:
    stage = body(STAGES[name])
    module = stage["cmd"].split("python -m ")[1].split()[0]
    named = [dep for dep in stage["deps"] if dep.endswith(".py") or dep.startswith("models/")]
    assert named == import_closure(module)
    assert module == f"tasks.{name}"
    assert stage["desc"]


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_tracks_its_own_section(name: str) -> None:
    """Of one of several systems, the part of the section that is the system's."""
    tracked = body(STAGES[name])["params"]
    assert {parameter.split(".")[0] for parameter in tracked} <= set(PARAMS)
    own = {"similarity_train": "similarity.systems.${item.name}"}
    assert own.get(name, name) in tracked


@pytest.fixture(scope="session")
def graph() -> nx.DiGraph:
    """Names of the stages of `dvc.yaml`, each pointing at those that it reads, as DVC sees it.

    DVC itself refuses a circle here.
    """
    with Repo(str(ROOT)) as repo, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of pygtrie, which DVC uses
        stages = repo.index.graph
        named = {stage: getattr(stage, "name", stage.path_in_repo) for stage in stages}
        return nx.relabel_nodes(stages, named)


def behind(graph: nx.DiGraph, *stages: str) -> set[str]:
    """All that these stages depend on, themselves included."""
    return set(stages).union(*(nx.descendants(graph, stage) for stage in stages))


def test_there_is_no_circle(graph: nx.DiGraph) -> None:
    assert nx.is_directed_acyclic_graph(graph)
    assert {name.split("@")[0] for name in graph if not name.endswith(".dvc")} == set(STAGES)


def test_pairs_read_their_own_source_and_the_pairs_before(graph: nx.DiGraph) -> None:
    """Verdicts alone (4) and corrections too (4c) both follow stage 3."""
    found = {name: set(graph.successors(name)) for name in graph if name.startswith("pairs@")}
    assert found == {
        "pairs@0": {"split"},
        "pairs@1": {"pairs@0", "typos"},
        "pairs@2": {"pairs@1", "synonyms"},
        "pairs@3": {"pairs@2", "extra_words"},
        "pairs@4": {"pairs@3", "feedback"},
        "pairs@4c": {"pairs@3", "feedback"},
    }


def test_only_stage_4_reads_feedback(graph: nx.DiGraph) -> None:
    """Those of other numbers, and all that writes a query, stand before it."""
    later = {name for name in graph if "feedback" in behind(graph, name)}
    numbered = {name for name in later if "@" in name}
    assert {name.split("@")[1].split("-")[0] for name in numbered} == {"4", "4c"}
    assert later - numbered <= {"feedback", "report", "table3"}
    if PARAMS["feedback"]["file"] != "data/score/feedback.csv":
        return  # people's own
    seed = PARAMS["seeds"][0]
    assert "score" in graph.successors("feedback")
    trained = {name for name in behind(graph, "feedback") if name.startswith("train@")}
    assert (
        trained
        == {f"train@3-{seed}"}
        == {name for name in graph.successors("score") if name.startswith("train@")}
    )


def test_no_target_needs_another(graph: nx.DiGraph) -> None:
    """`report` needs one stage number and seed, `table3` all of them, `similarity` none."""
    report, table3 = behind(graph, "report"), behind(graph, "table3")
    similarity = behind(graph, "similarity")
    assert "table3" not in report
    assert "report" not in table3
    judged = {name for name in graph if name.startswith("evaluate@")}
    first = f"{PARAMS['stage']}-{PARAMS['seeds'][0]}"
    assert {name for name in report if name in judged} == {f"evaluate@{first}"}
    assert judged <= table3
    assert not similarity & (report | table3)
    stages = {name for name in graph if not name.endswith(".dvc")}
    assert stages <= report | table3 | similarity


def test_each_system_of_the_similarity_track_is_trained_with_each_seed(graph: nx.DiGraph) -> None:
    """They read the pairs and not each other; the comparison reads all of them."""
    own = PARAMS["similarity"]
    trained = {f"similarity_train@{name}-{seed}" for name in own["names"] for seed in own["seeds"]}
    assert {name for name in graph if name.startswith("similarity_train@")} == trained
    assert all(set(graph.successors(name)) == {"scored_pairs"} for name in trained)
    assert set(graph.successors("similarity")) == {"scored_pairs", *trained}


def test_one_section_of_parameters_serves_all_networks(graph: nx.DiGraph) -> None:
    """Every train stage tracks `train` and its two kinds; commands differ in number and seed."""
    kinds = ["encoders.${train.encoder.kind}", "losses.${train.loss.kind}"]
    assert body(STAGES["train"])["params"] == ["train", *kinds]
    command = body(STAGES["train"])["cmd"]
    assert re.findall(r"\$\{(.*?)\}", command) == ["portable", "item.k", "item.seed"]
    numbers = ["0", "1", "2", "3", "4", "4c"]
    trained = {name for name in graph if name.startswith("train@")}
    assert trained == {f"train@{k}-{seed}" for k in numbers for seed in PARAMS["seeds"]}
    for name in trained:
        number = name.split("@")[1].split("-")[0]
        assert set(graph.successors(name)) == {f"pairs@{number}"}


def test_readme_lists_the_stages() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, stage in STAGES.items():
        assert f"| `{name}` | {body(stage)['desc']} |" in readme


def test_no_source_file_holds_a_path_of_a_machine() -> None:
    for path in [*modules("flows"), *modules("tasks"), *modules("models"), ROOT / "dvc.yaml"]:
        text = path.read_text(encoding="utf-8")
        assert not any(f"{place}/" in text for place in (Path.home(), ROOT.parent)), path
