"""The rules of the tree: who imports whom, how large folders are, and that `dvc.yaml` is true."""

from __future__ import annotations

import ast
import re
import shutil
import sys
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import networkx as nx
import pytest
import yaml
from dvc.repo import Repo

from models.network.kinds import kinds
from tasks.io.mixes import MIXES, reads_feedback
from tasks.papers.similarity import similarity_code
from tasks.pipeline.training_code_hash import stage as code
from tasks.pipeline.training_code_hash.stage import (
    PACKAGES,
    ROOT,
    code_hash,
    code_of,
    import_closure,
)

ALLOWED = {
    "models": {"torch", "numpy", "numba", "scipy", "pyarrow", "safetensors", "models"},
    "tasks": None,
    "flows": None,
}
FORBIDDEN = {"models": set(), "tasks": {"prefect", "flows"}, "flows": {"polars", "torch", "models"}}
PARAMS = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
STAGES = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
SYSTEMS = PARAMS["similarity"]["systems"]
NETWORKS, TAXONOMIES = "models/network/kinds.py", "tasks/pipeline/ingest/taxonomies/__init__.py"
BY_NAME = {NETWORKS, TAXONOMIES}
"""Modules that import others by a name that is not in their source."""
HASHED = {
    "training_code_hash": "tasks.pipeline.train.stage",
    "similarity_code": "tasks.papers.similarity.similarity_train",
}
"""Stages that write what code does, and whose."""
KIND = re.compile(r"\$\{(?:train|item)\.(encoder|loss)\.kind\}")


@cache
def tree_of(path: Path) -> ast.Module:
    """A module's syntax tree, which several tests read."""
    return ast.parse(path.read_text(encoding="utf-8"))


def module_of(stage: str) -> str:
    """The module that `python -m` runs for a stage."""
    if (ROOT / f"tasks/papers/similarity/{stage}.py").is_file():
        return f"tasks.papers.similarity.{stage}"
    package = "papers" if (ROOT / f"tasks/papers/{stage}").is_dir() else "pipeline"
    return f"tasks.{package}.{stage}.stage"


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def run_time_imports(path: Path) -> set[str]:
    """Top-level names that a module imports when it runs: TYPE_CHECKING blocks are left out."""
    imported = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            return
        if isinstance(node, ast.Import):
            imported.update(alias.name.split(".")[0] for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            imported.add(node.module.split(".")[0])
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(tree_of(path))
    return imported - set(sys.stdlib_module_names)


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_downwards_only(package: str) -> None:
    for path in modules(package):
        imports = run_time_imports(path)
        assert not imports & FORBIDDEN[package], path
        if ALLOWED[package] is not None:
            assert imports <= ALLOWED[package], path


LAYERS = (
    ("flows",),
    ("tasks.check_params",),
    ("tasks.apps",),
    ("tasks.release",),
    ("tasks.papers",),
    ("tasks.pipeline",),
    ("tasks.evaluation",),
    ("tasks.tables",),
    ("tasks.io",),
    ("models.training", "models.normalizer"),
    ("models.encoders", "models.losses", "models.search"),
    ("models.network",),
    ("models.metrics", "models.text"),
    ("models.reproducibility",),
)
"""Packages from the top down; a module imports from its own layer and from those below."""


def dotted(path: Path) -> str:
    return relative(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@pytest.fixture(scope="module")
def imports() -> nx.DiGraph:
    """Modules, each pointing at those that it imports; imports for type checkers count."""
    named = {dotted(path): path for package in PACKAGES for path in modules(package)}
    graph = nx.DiGraph()
    graph.add_nodes_from(named)
    for name, path in named.items():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ImportFrom) and node.module:
                inner = {f"{node.module}.{alias.name}" for alias in node.names} & named.keys()
                graph.add_edges_from(
                    (name, other) for other in inner or {node.module} & named.keys()
                )
    return graph


def layer_of(module: str) -> int | None:
    places = [
        place
        for place, names in enumerate(LAYERS)
        if any(f"{module}.".startswith(f"{name}.") for name in names)
    ]
    return places[0] if places else None


def test_no_import_circle_types_included(imports: nx.DiGraph) -> None:
    circles = [sorted(group) for group in nx.strongly_connected_components(imports)]
    assert [circle for circle in circles if len(circle) > 1] == []


def test_no_import_upwards_types_included(imports: nx.DiGraph) -> None:
    layers = {module: layer_of(module) for module in imports}
    assert {module for module in layers if layers[module] is None} == {"models", "tasks"}
    upwards = [
        (module, other)
        for module, other in imports.edges
        if (layers[module] or 0) > (layers[other] or 0)
    ]
    assert upwards == []


def test_folders_can_be_taken_in_at_a_glance() -> None:
    """At most 15 modules in a folder, and at most 12 entries in `tasks/`."""
    folders = {path.parent for package in PACKAGES for path in modules(package)}
    sizes = {relative(folder): len([*folder.glob("[!_]*.py")]) for folder in folders}
    assert {folder: size for folder, size in sizes.items() if size > 15} == {}
    assert len([entry for entry in (ROOT / "tasks").iterdir() if entry.name[0] != "_"]) <= 12


@pytest.mark.parametrize("path", [p for package in PACKAGES for p in modules(package)], ids=str)
def test_only_its_own_file_names_a_kind(path: Path) -> None:
    """Neither as a string nor by an import: a new encoder or loss is one file (and its test)."""
    others = {*kinds("encoders"), *kinds("losses")} - {path.stem}
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert node.value not in others, node.lineno
        if isinstance(node, ast.ImportFrom) and node.module:
            folder, _, name = node.module.rpartition(".")
            assert folder not in ("models.encoders", "models.losses") or name not in others


@pytest.mark.parametrize("package", ["encoders", "losses"])
def test_every_kind_has_its_test(package: str) -> None:
    tests = {path.stem for path in (ROOT / "tests/models" / package).glob("test_*.py")}
    assert {f"test_{kind}" for kind in kinds(package)} <= tests


@pytest.mark.parametrize("path", [p for package in PACKAGES for p in modules(package)], ids=str)
def test_imports_can_be_followed(path: Path) -> None:
    """None is relative, few modules import by a name, and packages hold no code of their own.

    Imports that `import_closure` misses would be missing in `dvc.yaml` and in the code hashes.
    """
    tree = tree_of(path)
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert not any(getattr(node, "level", 0) for node in imports)
    if relative(path) not in BY_NAME:
        taken = {alias.name for node in imports for alias in node.names}
        assert not taken & {"importlib", "import_module"}
        assert path.name != "__init__.py" or (len(tree.body) == 1 and ast.get_docstring(tree))


def body(stage: dict) -> dict:
    return stage.get("do", stage)


class Resolved(NamedTuple):
    """A stage as DVC has it, its variables replaced."""

    name: str
    deps: list[str]
    outs: list[str]

    @property
    def kind(self) -> str:
        """Its name in `dvc.yaml`."""
        return self.name.partition("@")[0]


class Pipeline(NamedTuple):
    """All stages, and a graph of their names, each pointing at those that it reads."""

    stages: list[Resolved]
    graph: nx.DiGraph

    def all_of(self, kind: str) -> list[Resolved]:
        return [stage for stage in self.stages if stage.kind == kind]


@pytest.fixture(scope="module", autouse=True)
def _each_file_is_read_once() -> Iterator[None]:
    """Many closures hold the same files."""
    with pytest.MonkeyPatch.context() as patch:
        imports = code._local_imports
        patch.setattr(code, "_local_imports", cache(lambda *of: tuple(imports(*of))))
        patch.setattr(code, "code_hash", cache(code_hash))
        yield


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    """Read `dvc.yaml` as DVC does, which refuses a circle here."""
    with Repo(str(ROOT)) as repo, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of pygtrie, which DVC uses
        graph = repo.index.graph
        named = {stage: getattr(stage, "name", stage.path_in_repo) for stage in graph}
        resolved = [
            Resolved(
                name,
                [dep.def_path for dep in stage.deps if dep.def_path != "params.yaml"],
                [out.def_path for out in stage.outs],
            )
            for stage, name in named.items()
        ]
        return Pipeline(resolved, nx.relabel_nodes(graph, named))


@pytest.fixture(scope="module")
def graph(pipeline: Pipeline) -> nx.DiGraph:
    return pipeline.graph


Hashes = Mapping[str, set[str]]  # file that a stage writes -> modules whose hashes it holds


@pytest.fixture(scope="module")
def hashes(tmp_path_factory: pytest.TempPathFactory) -> Hashes:
    """Run the stages `training_code_hash` and `similarity_code`."""
    folder = tmp_path_factory.mktemp("training_code_hash")
    shutil.copy(ROOT / "params.yaml", folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        code.main()
        for name in SYSTEMS:
            patch.setattr(sys, "argv", ["", "--name", name])
            similarity_code.main()
    return {
        path.relative_to(folder).as_posix(): set(yaml.safe_load(path.read_text()))
        for path in folder.glob("data/*/*.json")
    }


def code_behind(stage: Resolved) -> set[str]:
    """Local modules that a stage runs: all readers of taxonomies, and the kinds of its networks."""
    closure = import_closure([module_of(stage.kind)])
    if ROOT / TAXONOMIES in closure:
        readers = [path.stem for path in (ROOT / TAXONOMIES).parent.glob("[!_]*.py")]
        closure |= import_closure(
            f"tasks.pipeline.ingest.taxonomies.{reader}" for reader in readers
        )
    if ROOT / NETWORKS in closure:
        systems = {name: SYSTEMS[name] for name in SYSTEMS if stage.name.endswith(f"@{name}")}
        titles = not stage.kind.startswith("similarity")
        for values in [PARAMS["train"]] if titles else (systems or SYSTEMS).values():
            encoder, loss = values["encoder"]["kind"], values["loss"]["kind"]
            closure |= import_closure([f"models.encoders.{encoder}", f"models.losses.{loss}"])
    return {relative(path) for path in closure}


def names(dep: str, file: str) -> bool:
    return file == dep or file.startswith(f"{dep}/")


def tracks(dep: str, file: str, hashes: Hashes) -> bool:
    """Tell whether a change of `file` changes `dep`: a file, a folder, or one with hashes."""
    return names(dep, file) or any(
        names(dep, listing) and file in listed for listing, listed in hashes.items()
    )


@pytest.mark.thorough
@pytest.mark.parametrize("kind", STAGES)
def test_a_stage_names_all_code_behind_it(kind: str, pipeline: Pipeline, hashes: Hashes) -> None:
    """A stage that writes hashes names all whose hashes it writes."""
    for stage in pipeline.all_of(kind):
        behind = code_behind(stage).union(*(hashes.get(out, ()) for out in stage.outs))
        assert {f for f in behind if not any(tracks(d, f, hashes) for d in stage.deps)} == set()


@cache
def code_of_every_kind(module: str) -> dict[tuple[str, str], set[str]]:
    """Kinds of encoder and loss -> what `code_of` lists; each kind once, as they do not meet."""
    encoders, losses = list(PARAMS["encoders"]), list(PARAMS["losses"])
    pairs = [(encoder, losses[at % len(losses)]) for at, encoder in enumerate(encoders)]
    pairs += [(encoder, loss) for encoder in encoders[:1] for loss in losses]
    return {(encoder, loss): set(code_of(module, encoder, loss)) for encoder, loss in pairs}


@pytest.mark.parametrize("stage", HASHED)
def test_code_is_named_whatever_the_kinds(stage: str) -> None:
    deps = body(STAGES[stage])["deps"]
    assert {kind for dep in deps for kind in KIND.findall(dep)} == {"encoder", "loss"}
    for (encoder, loss), listed in code_of_every_kind(HASHED[stage]).items():
        chosen = {"encoder": encoder, "loss": loss}
        resolved = [KIND.sub(lambda match: chosen[match[1]], dep) for dep in deps]  # noqa: B023
        assert all(any(names(dep, file) for dep in resolved) for file in listed)


@pytest.mark.parametrize("kind", STAGES)
def test_no_code_is_named_for_nothing(kind: str, pipeline: Pipeline, hashes: Hashes) -> None:
    """Without any one dep some module would be named nowhere; of hashers, one of some kind."""
    for stage in pipeline.all_of(kind):
        behind = code_behind(stage)
        if kind in HASHED:
            behind = behind.union(*code_of_every_kind(HASHED[kind]).values())
        for dep in stage.deps:
            others = [other for other in stage.deps if other != dep]
            assert dep.startswith(("data/", PARAMS["feedback"]["folder"])) or any(
                names(dep, f) and not any(tracks(other, f, hashes) for other in others)
                for f in behind
            ), f"{stage.name}: {dep}"


def test_every_dep_is_there_or_made(pipeline: Pipeline) -> None:
    """A stage makes it, something in it, or what it lies in."""
    outs = {out for stage in pipeline.stages for out in stage.outs}
    for stage in pipeline.stages:
        for dep in stage.deps:
            made = any(names(dep, out) or names(out, dep) for out in outs)
            assert made or (ROOT / dep).exists(), f"{stage.name}: {dep}"


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_is_the_module_of_its_name(name: str) -> None:
    stage = body(STAGES[name])
    assert stage["cmd"].split("python -m ")[1].split()[0] == module_of(name)
    assert stage["desc"]


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_tracks_its_own_section(name: str) -> None:
    """Of a section that several stages read, the part that is the stage's."""
    tracked = body(STAGES[name])["params"]
    assert {parameter.split(".")[0] for parameter in tracked} <= set(PARAMS)
    own = {
        "training_code_hash": "train.encoder",
        "reference_model": "train.compatible_with",
        "similarity_code": "similarity.systems.${key}",
        "similarity_train": "similarity.systems.${key}",
    }
    assert own.get(name, name) in tracked


def behind(graph: nx.DiGraph, *stages: str) -> set[str]:
    """All that these stages depend on, themselves included."""
    return set(stages).union(*(nx.descendants(graph, stage) for stage in stages))


def test_there_is_no_circle(graph: nx.DiGraph) -> None:
    assert nx.is_directed_acyclic_graph(graph)
    assert {name.split("@")[0] for name in graph if not name.endswith(".dvc")} == set(STAGES)


def test_pairs_read_their_own_source_and_the_pairs_before(graph: nx.DiGraph) -> None:
    """Besides, languages of titles. The mixes `verdicts` and `corrections` follow `extra_words`."""
    read = {name: set(graph.successors(name)) for name in graph if name.startswith("pairs@")}
    assert read == {
        "pairs@base": {"split", "auxiliary_taxonomy"},
        "pairs@typos": {"split", "pairs@base", "typos"},
        "pairs@synonyms": {"split", "pairs@typos", "synonyms"},
        "pairs@extra_words": {"split", "pairs@synonyms", "extra_words"},
        "pairs@verdicts": {"split", "pairs@extra_words", "feedback"},
        "pairs@corrections": {"split", "pairs@extra_words", "feedback"},
    }


def test_only_verdicts_and_corrections_read_feedback(graph: nx.DiGraph) -> None:
    """The other mixes, and all that writes a query but its own, stand before it."""
    later = {name for name in graph if "feedback" in behind(graph, name)}
    of_a_mix = {name for name in later if "@" in name}
    assert {name.split("@")[1].split("-")[0] for name in of_a_mix} == {"verdicts", "corrections"}
    assert later - of_a_mix <= {"feedback", "report", "table3"}
    seed = PARAMS["seeds"][0]
    assert "simulate_feedback" in graph.successors("feedback")
    trained = {name for name in behind(graph, "feedback") if name.startswith("train@")}
    assert (
        trained
        == {f"train@extra_words-{seed}"}
        == {name for name in graph.successors("simulate_feedback") if name.startswith("train@")}
    )


def test_no_target_needs_another(graph: nx.DiGraph) -> None:
    """`report` needs one mix and seed, `table3` all of them, `similarity` none."""
    report, table3 = behind(graph, "report"), behind(graph, "table3")
    similarity = behind(graph, "similarity")
    assert "table3" not in report
    assert "report" not in table3
    judged = {name for name in graph if name.startswith("evaluate@")}
    first = f"{PARAMS['mix']}-{PARAMS['seeds'][0]}"
    assert {name for name in report if name in judged} == {f"evaluate@{first}"}
    assert judged <= table3
    assert not similarity & (report | table3)
    stages = {name for name in graph if not name.endswith(".dvc")}
    assert stages <= report | table3 | similarity


def test_each_system_of_the_similarity_track_is_trained_by_itself(graph: nx.DiGraph) -> None:
    """Each reads the pairs and its own code and no other system; the comparison reads all."""
    trained = {f"similarity_train@{name}": f"similarity_code@{name}" for name in SYSTEMS}
    assert {name for name in graph if name.startswith("similarity_train@")} == set(trained)
    for name, its_code in trained.items():
        assert set(graph.successors(name)) == {"scored_pairs", its_code}
        assert not set(graph.successors(its_code))
    every = {"scored_pairs", *trained, *trained.values()}
    assert set(graph.successors("similarity")) == every


def test_a_system_is_trained_with_all_seeds_by_one_command() -> None:
    stage = body(STAGES["similarity_train"])
    assert re.findall(r"\$\{(.*?)\}", stage["cmd"]) == ["portable", "threads", "key"]
    assert stage["outs"] == ["data/similarity_train/${key}"]
    assert {"similarity.seeds", "train"} <= set(stage["params"])


def test_one_section_of_parameters_serves_all_networks(graph: nx.DiGraph) -> None:
    """Every one tracks `train` and its two kinds; commands differ in mix and seed."""
    own = ["encoders.${train.encoder.kind}", "losses.${train.loss.kind}"]
    assert body(STAGES["train"])["params"] == ["train", *own]
    command = body(STAGES["train"])["cmd"]
    assert re.findall(r"\$\{(.*?)\}", command) == ["portable", "threads", "item.k", "item.seed"]
    feedback = body(STAGES["train_feedback"])
    assert feedback["params"] == ["train", "train_feedback", *own]
    assert feedback["cmd"] == command.replace("pipeline.train.", "pipeline.train_feedback.")
    assert feedback["outs"] == body(STAGES["train"])["outs"]
    trained = {name for name in graph if name.startswith(("train@", "train_feedback@"))}
    stages = {mix: f"train{'_feedback' * reads_feedback(mix)}" for mix in MIXES}
    expected = {(stages[mix], mix, seed) for mix in MIXES for seed in PARAMS["seeds"]}
    assert trained == {f"{stage}@{mix}-{seed}" for stage, mix, seed in expected}
    for stage, mix, seed in expected:
        beside = {"training_code_hash", "reference_model"}
        if reads_feedback(mix):
            beside.add(f"train@extra_words-{seed}")
        assert set(graph.successors(f"{stage}@{mix}-{seed}")) == {f"pairs@{mix}", *beside}


def test_every_mix_has_its_pairs_and_networks() -> None:
    """`dvc.yaml` lists the mixes of `tasks/io/mixes.py`."""
    assert tuple(STAGES["pairs"]["foreach"]) == MIXES
    networks = STAGES["train"], STAGES["train_feedback"]
    assert tuple(mix for stage in networks for mix in stage["matrix"]["k"]) == MIXES
    for stage in ("calibrate", "evaluate"):
        assert tuple(STAGES[stage]["matrix"]["k"]) == MIXES


def test_no_source_file_holds_a_path_of_a_machine() -> None:
    for path in [*modules("flows"), *modules("tasks"), *modules("models"), ROOT / "dvc.yaml"]:
        text = path.read_text(encoding="utf-8")
        assert not any(f"{place}/" in text for place in (Path.home(), ROOT.parent)), path
