"""A toy repository with stages of a few lines, and one Prefect test server for all flow tests."""

import gc
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from background import ROOT, ran

os.environ.update(DO_NOT_TRACK="true", DVC_NO_ANALYTICS="1")
os.environ.update(
    PREFECT_SERVER_ANALYTICS_ENABLED="false", PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW="ignore"
)


def pytest_configure(config: pytest.Config) -> None:
    """Ignore what DVC 3.67 makes of pygtrie and what Prefect's client leaves open, nothing else."""
    for line in (
        "ignore:_NoneStep.value will soon raise:DeprecationWarning",
        r"ignore:unclosed <socket\.socket.*127\.0\.0\.1:ResourceWarning",
        r"ignore:Exception ignored in. <socket\.socket.*:pytest.PytestUnraisableExceptionWarning",
    ):
        config.addinivalue_line("filterwarnings", line)


PIPELINE = """
stages:
  zeta: {cmd: python -m tasks.stage zeta data/zeta, outs: [data/zeta]} # of no use to `report`
  ingest:
    cmd: python -m tasks.stage ingest data/ingest
    deps: [tasks/stage.py, "${ingest.folder}"]
    params: [ingest]
    outs: [data/ingest]
  lexical: {cmd: python -m tasks.stage lexical data/lexical,
    deps: [tasks/stage.py, data/ingest], outs: [data/lexical]}
  train:
    matrix: {k: [base, typos], seed: "${seeds}"}
    cmd: python -m tasks.stage train@${item.k}-${item.seed} data/train/${item.k}/${item.seed}
    deps: [tasks/stage.py, data/ingest]
    outs: ["data/train/${item.k}/${item.seed}"]
  evaluate:
    matrix: {k: [base, typos], seed: "${seeds}"}
    cmd: python -m tasks.stage evaluate@${item.k}-${item.seed} data/evaluate/${item.k}/${item.seed}
    deps: [tasks/stage.py, "data/train/${item.k}/${item.seed}", data/ingest]
    outs: ["data/evaluate/${item.k}/${item.seed}"]
  report:
    cmd: python -m tasks.stage report data/report
    deps: [tasks/stage.py, data/lexical, "data/evaluate/${mix}/${seeds[0]}"]
    params: [mix, seeds]
    outs: [data/report]
  table3: {cmd: python -m tasks.stage table3 data/table3,
    deps: [tasks/stage.py, data/lexical, data/evaluate], outs: [data/table3]}
  similarity: {cmd: python -m tasks.stage similarity data/similarity,
    deps: [tasks/stage.py], outs: [data/similarity]}
"""
PARAMS = """
track: titles
mix: typos
seeds: [1]
ingest: {folder: data/sample, taxonomy: {reader: sample, files: {titles: titles.csv}}}
register: {name: toy, top_k: 5}
"""
WHOLE = '''
"""Checks one of the parameters; reports when it runs."""
import pathlib, sys, yaml
register = yaml.safe_load(pathlib.Path("params.yaml").read_text())["register"]
print("checked top_k", register["top_k"])
if register["top_k"] < 1:
    sys.exit("error: params.yaml: register.top_k")
'''
STAGE = '''
"""Writes one folder; fails or sleeps when a file of that name holds the stage's."""
import os, pathlib, sys, time
name, out = sys.argv[1:]
def is_named(path): return (file := pathlib.Path(path)).exists() and file.read_text() == name
print("working on", name)
if is_named("sleep.txt"):
    pathlib.Path("pid.txt").write_text(str(os.getpid()))
    time.sleep(60)
if is_named("fail.txt"):
    print("the last words", file=sys.stderr)
    sys.exit(3)
folder = pathlib.Path(out)
folder.mkdir(parents=True)
head = "system,test,slice,metric,value,low,high,n"
lexical = ["ngram,typos,all,success_at_1,0.5,0.4,0.6,10", "ngram,typos,all,mrr,0.55,0.45,0.65,10"]
network = ["typos,typos,all,success_at_1,0.75,,,10", "typos,typos,short,success_at_1,0.1,,,2"]
rows = {"lexical": lexical, "evaluate": network}.get(name.split("@")[0])
pages = {"table3": "# Table 3\\n\\n| system | Typos |\\n", "similarity": "# Similarity\\n"}
if rows:
    (folder / "table.csv").write_text("\\n".join([head, *rows]) + "\\n")
else:
    (folder / (f"{name}.md" if name in pages else "report.html")).write_text(pages.get(name, name))
'''
REGISTER = '''
"""A registry in a file: one version per content of the report."""
import hashlib, yaml
from tasks.release.registry.outcomes import RegisteredVersion
def register(root):
    name = yaml.safe_load((root / "params.yaml").read_text())["register"]["name"]
    digest = hashlib.sha256((root / "data/report/report.html").read_bytes()).hexdigest()
    file = root / "registered.txt"
    before = file.exists() and file.read_text() == digest
    file.write_text(digest)
    return RegisteredVersion(name, "1", "challenger", before)
'''
PROMOTE = """
from tasks.release.registry.outcomes import Promotion
def promote(root, version):
    table = "| test | difference |\\n| --- | --- |\\n| typos | +0.25 |"
    return Promotion(True, "better on typos", table)
"""
PAGE = """
def write_page(root):
    (root / "data/gate").mkdir(parents=True, exist_ok=True)
    (root / "data/gate/report.html").write_text((root / "data/report/report.html").read_text())
"""
# `?*`: DVC asks for a folder with its slash, which `*` matches, and would not look into it.
IGNORED = """
/data/?*
!/data/sample/
!/data/*.dvc
!/data/external/
/data/external/?*
!/data/external/*.dvc
/.workspaces/
/.prefect/
/*.txt
/logs/
__pycache__/
"""
IMPORTED = (  # by the flows
    *(f"tasks/io/{name}.py" for name in ("command", "regular_files", "tracking")),
    *(f"tasks/release/registry/{name}.py" for name in ("locks", "outcomes")),
)
FILES = {
    **{name: (ROOT / name).read_text(encoding="utf-8") for name in IMPORTED},
    "dvc.yaml": PIPELINE,
    "params.yaml": PARAMS,
    "tasks/__init__.py": "",
    "tasks/check_params.py": WHOLE,
    "tasks/stage.py": STAGE,
    "tasks/release/registry/register.py": REGISTER,
    "tasks/release/registry/promote.py": PROMOTE,
    "tasks/release/gate/decision_page.py": PAGE,
    "data/sample/titles.csv": "title\nbaker\n",
    "profiles/other.yaml": """
        external: {source titles.csv: below/source titles.csv}
        ingest:
          folder: data/external
          taxonomy: {reader: table, files: {own name: source titles.csv}}
        register: {name: toy-other}
        """,
    ".gitignore": IGNORED,
    ".dvcignore": "__pycache__/\n.workspaces/\n",
}


def command(folder: Path, *arguments: str) -> str:
    """Return the output of a command that must succeed."""
    done = ran(folder, *arguments)
    assert done.returncode == 0, f"{arguments}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def run_in() -> Callable[..., str]:
    return command


@pytest.fixture(scope="session")
def dvc() -> tuple[str, ...]:
    return (sys.executable, "-m", "dvc")


@pytest.fixture(scope="session")
def toy_template(tmp_path_factory: pytest.TempPathFactory, dvc: tuple[str, ...]) -> Path:
    root = tmp_path_factory.mktemp("toy") / "clone"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(textwrap.dedent(text).lstrip("\n"))
    command(root, "git", "init", "--quiet", "--initial-branch=main")
    command(root, "git", "config", "user.name", "toy")
    command(root, "git", "config", "user.email", "toy@example.invalid")
    command(root, *dvc, "init", "--quiet")
    command(root, *dvc, "remote", "add", "--quiet", "--default", "storage", "../storage")
    command(root, "git", "add", ".")
    command(root, "git", "commit", "--quiet", "--message=toy")
    return root


@pytest.fixture
def toy(toy_template: Path, tmp_path: Path) -> Path:
    """Make a repository of git and DVC with nothing run yet, at a path that is no plain one."""
    return Path(shutil.copytree(toy_template, tmp_path / "O'Brien_über_100%", symlinks=True))


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[None]:
    import prefect.main  # sets up logging, which takes away the handlers of the first test
    from prefect.testing.utilities import prefect_test_harness

    assert prefect.main
    with prefect_test_harness(server_startup_timeout=90):
        yield
        gc.collect()  # what clients have left open, as long as that is ignored


@pytest.fixture
def flow_environment(prefect_server: None) -> dict[str, str]:
    """Set a flow's process to the test server and `flows` from this repository."""
    from prefect.settings import get_current_settings

    settings = get_current_settings().to_environment_variables(exclude_unset=True)
    return {**os.environ, **settings, "PYTHONPATH": str(ROOT)}


@pytest.fixture
def own_server(
    toy: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """Name no server, so that the command starts its own; one test makes the tables for all."""
    tables, here = tmp_path_factory.getbasetemp() / "tables", toy / ".prefect/temporary"
    if tables.is_dir():
        shutil.copytree(tables, here)
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PREFECT_")}
    yield kept | {"PYTHONPATH": str(ROOT), "PREFECT_HOME": str(tmp_path / "prefect")}
    tables.mkdir(exist_ok=True)
    for file in here.glob("empty-*.db"):
        shutil.copy(file, tables)
