"""The rules of the tree: who imports whom, how large folders are, and that `dvc.yaml` is true."""

import ast
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path

import networkx as nx
import pytest
import yaml
from pipeline_graph import Pipeline, Resolved, module_of, read_pipeline

from models.network.kinds import kinds
from tasks.io.mixes import BASE, LAST, MIXES, SOURCES, mix_before, reads_feedback
from tasks.papers.similarity import similarity_code
from tasks.pipeline import training_code_hash as code
from tasks.pipeline.training_code_hash import PACKAGES, ROOT, code_hash, code_of, import_closure

# packages from the top down; a module imports from its own layer and from those below
LAYERS = """
flows > tasks.check_params > tasks.apps > tasks.release > tasks.papers > tasks.pipeline >
tasks.evaluation > tasks.tables > tasks.io > models.training, models.serving >
models.encoders, models.losses > models.network > models.metrics, models.text >
models.reproducibility
"""
# all that `models` imports at run time besides the standard library, and what a module of the
# served model imports where its consumer has it
ALLOWED = {"torch", "numpy", "numba", "scipy", "pyarrow", "safetensors", "models"}
SERVED = {"models/serving/pyfunc.py": {"mlflow", "pandas"}}
SERVED |= {"models/serving/embed.py": {"onnxruntime"}}
FORBIDDEN = {"models": set(), "tasks": {"prefect"}, "flows": {"polars", "torch", "models"}}
PARAMS = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
STAGES = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
SYSTEMS = PARAMS["similarity"]["systems"]
# modules that import others by a name that is not in their source
NETWORKS, TAXONOMIES = "models/network/kinds.py", "tasks/pipeline/ingest/taxonomy.py"
SECTIONS = "tasks/check_params.py"
HASHED = {  # stages that write what code does, and whose
    "training_code_hash": "tasks.pipeline.train",
    "similarity_code": "tasks.papers.similarity.similarity_train",
}
KIND = re.compile(r"\$\{(?:train|item)\.(encoder|loss)\.kind\}")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


MODULES = [path for package in PACKAGES for path in modules(package)]
each_module = pytest.mark.parametrize("path", MODULES, ids=relative)


@each_module
def test_packages_import_only_what_is_theirs(path: Path) -> None:
    """At run time; imports for type checkers do not count."""
    imported = set()
    for node in code._run_time(tree_of(path)):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module:
            imported.add(node.module.split(".")[0])
    package = relative(path).partition("/")[0]
    assert not imported & FORBIDDEN[package]
    if package == "models":
        more = SERVED.get(relative(path), set())
        assert imported - set(sys.stdlib_module_names) - more <= ALLOWED


@pytest.fixture(scope="module")
def imports() -> nx.DiGraph:
    """Modules, each pointing at those that it imports; imports for type checkers count."""
    named = {
        relative(path).removesuffix(".py").removesuffix("/__init__").replace("/", "."): path
        for path in MODULES
    }
    graph = nx.DiGraph()
    graph.add_nodes_from(named)
    for name, path in named.items():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ImportFrom) and node.module:
                inner = {f"{node.module}.{alias.name}" for alias in node.names} & named.keys()
                others = inner or {node.module} & named.keys()
                graph.add_edges_from((name, other) for other in others)
    return graph


def layer_of(module: str) -> int | None:
    starts = [tuple(f"{name.strip()}." for name in layer.split(",")) for layer in LAYERS.split(">")]
    return next((n for n, names in enumerate(starts) if f"{module}.".startswith(names)), None)


def test_no_import_circle_types_included(imports: nx.DiGraph) -> None:
    circles = [sorted(group) for group in nx.strongly_connected_components(imports)]
    assert [circle for circle in circles if len(circle) > 1] == []


def test_no_import_upwards_types_included(imports: nx.DiGraph) -> None:
    layers = {module: layer_of(module) for module in imports}
    assert {module for module in layers if layers[module] is None} == {"models", "tasks"}
    upwards = [edge for edge in imports.edges if (layers[edge[0]] or 0) > (layers[edge[1]] or 0)]
    assert upwards == []


def test_folders_can_be_taken_in_at_a_glance() -> None:
    """About fifteen modules in a folder; `flows` is one list of commands, `pipeline` of stages."""
    folders = {path.parent for path in MODULES}
    sizes = {relative(folder): len([*folder.glob("[!_]*.py")]) for folder in folders}
    assert {folder: size for folder, size in sizes.items() if size > 20} == {}


@each_module
def test_only_its_own_file_names_a_kind(path: Path) -> None:
    """Neither as a string nor by an import: a new encoder or loss is one file (and its test)."""
    others = {*kinds("encoders"), *kinds("losses")} - {path.stem}
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Constant) and node.value != "margin":  # the gate has one too
            assert not isinstance(node.value, str) or node.value not in others, node.lineno
        if isinstance(node, ast.ImportFrom) and node.module:
            folder, _, name = node.module.rpartition(".")
            assert folder not in ("models.encoders", "models.losses") or name not in others


@pytest.mark.parametrize("package", ["encoders", "losses"])
def test_every_kind_has_its_test(package: str) -> None:
    tests = {path.stem for path in (ROOT / "tests/models" / package).glob("test_*.py")}
    assert {f"test_{kind}" for kind in kinds(package)} <= tests


@each_module
def test_imports_can_be_followed(path: Path) -> None:
    """None is relative, few modules import by a name, and packages hold no code of their own.

    Imports that `import_closure` misses would be missing in `dvc.yaml` and in the code hashes.
    """
    tree = tree_of(path)
    nodes = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert not any(getattr(node, "level", 0) for node in nodes)
    assert path.name != "__init__.py" or (len(tree.body) == 1 and ast.get_docstring(tree))
    if relative(path) not in (NETWORKS, TAXONOMIES, SECTIONS):
        taken = {alias.name for node in nodes for alias in node.names}
        assert not taken & {"importlib", "import_module"}


def body(stage: str) -> dict:
    return STAGES[stage].get("do", STAGES[stage])


@pytest.fixture(scope="module", autouse=True)
def _each_file_is_read_once() -> Iterator[None]:
    """Many closures hold the same files."""
    with pytest.MonkeyPatch.context() as patch:
        read = code._local_imports
        patch.setattr(code, "_local_imports", cache(lambda *of: tuple(read(*of))))
        patch.setattr(code, "code_hash", cache(code_hash))
        yield


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return read_pipeline(ROOT)


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
    closure = import_closure([module_of(stage.kind, ROOT)])
    if ROOT / TAXONOMIES in closure:
        readers = (ROOT / TAXONOMIES).with_name("taxonomies").glob("[!_]*.py")
        closure |= import_closure(f"tasks.pipeline.ingest.taxonomies.{p.stem}" for p in readers)
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
    pairs = [(encoder, losses[n % len(losses)]) for n, encoder in enumerate(encoders)]
    pairs += [(encoder, loss) for encoder in encoders[:1] for loss in losses]
    return {(encoder, loss): set(code_of(module, encoder, loss)) for encoder, loss in pairs}


@pytest.mark.parametrize("stage", HASHED)
def test_code_is_named_whatever_the_kinds(stage: str) -> None:
    deps = body(stage)["deps"]
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
    """A stage makes it, something in it, or what it lies in; every stage is in the graph."""
    names_in_graph = {name.split("@")[0] for name in pipeline.graph if not name.endswith(".dvc")}
    assert names_in_graph == set(STAGES)
    outs = {out for stage in pipeline.stages for out in stage.outs}
    for stage in pipeline.stages:
        for dep in stage.deps:
            made = any(names(dep, out) or names(out, dep) for out in outs)
            assert made or (ROOT / dep).exists(), f"{stage.name}: {dep}"


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_is_the_module_and_the_section_of_its_name(name: str) -> None:
    """Of a section that several stages read, it tracks the part that is its own."""
    stage, tracked = body(name), body(name)["params"]
    assert stage["cmd"].split("python -m ")[1].split()[0] == module_of(name, ROOT)
    assert stage["desc"]
    assert {parameter.split(".")[0] for parameter in tracked} <= set(PARAMS)
    part = "similarity.systems." if name.startswith("similarity_") else "train."
    assert any(p == name or (name not in PARAMS and p.startswith(part)) for p in tracked)


def test_every_mix_has_its_pairs_and_networks(pipeline: Pipeline) -> None:
    """`dvc.yaml` has the mixes of `tasks/io/mixes.py`; pairs read their source and those before."""
    trained = {f"{mix}-{seed}" for mix in MIXES for seed in PARAMS["seeds"]}
    for stage in ("calibrate", "evaluate"):
        assert {made.name for made in pipeline.all_of(stage)} == {f"{stage}@{t}" for t in trained}
    assert {made.name for made in pipeline.all_of("pairs")} == {f"pairs@{mix}" for mix in MIXES}
    for mix in MIXES:
        source = "feedback" if reads_feedback(mix) else mix
        own = {"auxiliary_taxonomy"} if mix == BASE else {source, f"pairs@{mix_before(mix)}"}
        assert set(pipeline.graph.successors(f"pairs@{mix}")) == {"split", *own}


def test_a_stage_that_reads_queries_of_one_source_reads_those_of_all(pipeline: Pipeline) -> None:
    stages = [source.stage for source in SOURCES]
    for stage in pipeline.stages:
        if stage.kind not in (*stages, "pairs"):
            read = {n for n in stages if any(d.startswith(f"data/{n}") for d in stage.deps)}
            assert read in (set(), set(stages)), stage.name


def test_only_mixes_with_feedback_read_it(pipeline: Pipeline) -> None:
    """The other mixes, and all that writes a query but its own, stand before it."""
    later = {name for name in pipeline.graph if "feedback" in pipeline.behind(name)}
    mixes = {name.split("@")[1].split("-")[0] for name in later if "@" in name}
    assert mixes == {mix for mix in MIXES if reads_feedback(mix)}
    assert {name for name in later if "@" not in name} <= {"feedback", "report", "table3"}
    first = f"train@{LAST}-{PARAMS['seeds'][0]}"
    assert "simulate_feedback" in pipeline.graph.successors("feedback")
    assert first in pipeline.graph.successors("simulate_feedback")
    assert {n for n in pipeline.behind("feedback") if n.startswith("train@")} == {first}


def test_no_target_needs_another(pipeline: Pipeline) -> None:
    """`report` needs one mix and seed, `table3` all of them, `similarity` none."""
    report, table3, similarity = map(pipeline.behind, ("report", "table3", "similarity"))
    assert "table3" not in report
    assert "report" not in table3
    evaluated = {stage.name for stage in pipeline.all_of("evaluate")}
    assert report & evaluated == {f"evaluate@{PARAMS['mix']}-{PARAMS['seeds'][0]}"}
    assert evaluated <= table3
    assert not similarity & (report | table3)
    every = {stage.name for stage in pipeline.stages if not stage.name.endswith(".dvc")}
    assert every <= report | table3 | similarity


def test_each_system_of_the_similarity_track_is_trained_by_itself(pipeline: Pipeline) -> None:
    """With all seeds by one command, from the pairs and its own code; the comparison reads all."""
    graph = pipeline.graph
    trained = {f"similarity_train@{name}": f"similarity_code@{name}" for name in SYSTEMS}
    assert {name for name in graph if name.startswith("similarity_train@")} == set(trained)
    for name, its_code in trained.items():
        assert set(graph.successors(name)) == {"scored_pairs", its_code}
        assert not set(graph.successors(its_code))
    every = {"scored_pairs", *trained, *trained.values()}
    assert set(graph.successors("similarity")) == every
    stage = body("similarity_train")
    assert re.findall(r"\$\{(.*?)\}", stage["cmd"]) == ["portable", "threads", "key"]
    assert {"similarity.seeds", "train"} <= set(stage["params"])


def test_one_section_of_parameters_serves_all_networks(pipeline: Pipeline) -> None:
    """Every one tracks `train` and its two kinds; commands differ in mix and seed."""
    own = ["encoders.${train.encoder.kind}", "losses.${train.loss.kind}"]
    train, feedback = body("train"), body("train_feedback")
    assert train["params"] == ["train", *own]
    assert re.findall(r"\$\{(.*?)\}", train["cmd"])[-2:] == ["item.k", "item.seed"]
    assert feedback["params"] == ["train", "train_feedback", *own]
    assert feedback["cmd"] == train["cmd"].replace("pipeline.train ", "pipeline.train_feedback ")
    assert feedback["outs"] == train["outs"]
    graph = pipeline.graph
    trained = {name for name in graph if name.startswith(("train@", "train_feedback@"))}
    expected = {}
    for mix, seed in product(MIXES, PARAMS["seeds"]):
        stage = f"train{'_feedback' * reads_feedback(mix)}@{mix}-{seed}"
        start = {f"train@{LAST}-{seed}"} if reads_feedback(mix) else set()
        expected[stage] = {f"pairs@{mix}", "training_code_hash", "reference_model", *start}
    assert {stage: set(graph.successors(stage)) for stage in trained} == expected


def test_no_source_file_holds_a_path_of_a_machine() -> None:
    for path in [*MODULES, ROOT / "dvc.yaml"]:
        text = path.read_text(encoding="utf-8")
        folders = "|".join(re.escape(str(folder)) for folder in (Path.home(), ROOT.parent))
        assert not re.search(rf"(?<!\w)(?:{folders})/", text), path  # `.dvc/tmp/` is none
