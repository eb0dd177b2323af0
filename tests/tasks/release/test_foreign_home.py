"""Users other than root, and homes that cannot be written: a model is listed and loaded."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import tiny_registry
import tiny_run
from mlflow_import import WARNINGS

pytestmark = [pytest.mark.slow, *WARNINGS]

LIST = """
from pathlib import Path
from tasks.release.registry.versions import listing
print(listing(Path.cwd()))
"""
LOAD = """
import mlflow, pandas
model = mlflow.pyfunc.load_model("models:/rolecall@challenger")
print(model.predict(pandas.DataFrame({"raw_title": ["nurse"]})).occupation_id[0])
"""
DRAW = "from matplotlib.figure import Figure; Figure().savefig('figure.svg')\n"
NOBODY = 65534
SETPRIV = (
    *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
    *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),  # reads our Python
)


def environment(home: Path, root: Path) -> dict[str, str]:
    """Return a stage's variables without those for caches and for ONNX's telemetry."""
    from flows.environment import stage_environment

    left_out = ("XDG_", "MPL", "ORT_", "MLFLOW_TRACKING")
    values = stage_environment() | {"HOME": str(home), "PYTHONPATH": str(tiny_run.ROOT)}
    kept = {name: value for name, value in values.items() if not name.startswith(left_out)}
    kept["MPLCONFIGDIR"] = str(root / ".prefect/matplotlib")  # as a command sets it without a home
    return kept | {"GIT_CEILING_DIRECTORIES": str(root.parent)}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_registry.registered(tmp_path_factory.mktemp("foreign") / "clone", 1)


def run(root: Path, home: Path, *words: str, user: tuple[str, ...] = ()) -> str:
    values = environment(home, root)
    command = [*user, sys.executable, *words]
    done = subprocess.run(command, cwd=root, env=values, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def everything(root: Path, home: Path, user: tuple[str, ...] = ()) -> None:
    """List, load as a consumer, and draw."""
    address = f"sqlite:///{root}/.mlflow/mlflow.db"
    load = f"import os; os.environ['MLFLOW_TRACKING_URI'] = {address!r}\n{LOAD}{DRAW}"
    printed = run(root, home, "-c", LIST + load, user=user)
    assert "version 1" in printed and printed.endswith("\nnurse\n")
    assert (root / "figure.svg").is_file()


def test_nothing_is_written_to_a_home(root: Path, tmp_path: Path) -> None:
    everything(root, tmp_path)
    assert [*tmp_path.rglob("*")] == []


@pytest.mark.skipif(os.getuid() != 0 or not shutil.which("setpriv"), reason="as root, util-linux")
def test_a_user_who_has_no_home(root: Path, tmp_path: Path) -> None:
    for path in (root, *root.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    everything(root, Path("/dev/null/home"), SETPRIV)
