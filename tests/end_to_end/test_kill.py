"""A kill in the middle of any step, then the same command: the same bytes as without the kill."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from clones import FIRST_LOOK, LONGER, MIX, MODEL, SEED, Clone
from kills import Moment, any_file_below, appears, files_below, kill_at, resumed_at, says, survivors

from flows.stages import DVC

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="looks for survivors in /proc"),
]
TRAINED = f"train_feedback@{MODEL}"
LAST_FILE = f"data/train/{MIX}/{SEED}/history.csv"
STAGES = (  # by their first file, a partial one as well, and by their last, when DVC takes over
    ("ingest", any_file_below, "data/ingest"),
    ("pairs@base", appears, "data/pairs/base/metrics.json"),
    ("reference_model", any_file_below, "data/reference_model"),
    ("report", appears, "data/report/report.html"),
)
Before = Callable[[str], Clone]
Check = Callable[[Clone, str], None]
PLAN = """
from pathlib import Path
from flows.dvc_plan import plan_and_skipped
print(*plan_and_skipped(Path.cwd(), "report")[0])
"""


def repro(stage: str) -> tuple[str, ...]:
    """Return the command as the flow calls it."""
    return (*DVC, "repro", "--single-item", stage)


@pytest.fixture(scope="module")
def order(small: Clone) -> list[str]:
    """List the stages in the flow's order."""
    return small.python(PLAN).split()


@pytest.fixture
def before(small: Clone, order: list[str], tmp_path: Path) -> Callable[[str], Clone]:
    """Copy `small` as it was before a stage ran."""
    return lambda stage: small.rewound(tmp_path, order[: order.index(stage)])


@pytest.fixture
def as_without_a_kill(small: Clone, order: list[str]) -> Callable[[Clone, str], None]:
    """Compare lock and files with those of `small`, as they were after a stage had run."""

    def check(clone: Clone, stage: str) -> None:
        done = order[: order.index(stage) + 1]
        assert clone.stages() == {name: small.stages()[name] for name in done}
        assert clone.files() == small.files(done)

    return check


@pytest.mark.parametrize(("stage", "at", "path"), STAGES)
def test_a_stage(
    before: Before, as_without_a_kill: Check, stage: str, at: Callable[[Path], Moment], path: str
) -> None:
    clone = before(stage)
    kill_at(at(clone.root / path), clone, *repro(stage))
    assert survivors(clone, 0.5) == []
    assert stage not in clone.stages()
    clone.run(*repro(stage))
    as_without_a_kill(clone, stage)


def test_training_goes_on_from_its_checkpoint(before: Before, as_without_a_kill: Check) -> None:
    """Kill thrice; each time it goes on from the last look, and nothing of it is left behind."""
    clone = before(TRAINED)
    later, last = LONGER["max_steps"] // 2, LONGER["max_steps"]
    kill_at(says(FIRST_LOOK), clone, *repro(TRAINED))
    printed = kill_at(says(f"step {later}/{last} "), clone, *repro(TRAINED))
    assert LONGER["evaluate_every"] <= resumed_at(printed) < later
    printed = kill_at(appears(clone.root / LAST_FILE), clone, *repro(TRAINED))
    assert later <= resumed_at(printed) < last
    assert TRAINED not in clone.stages()
    clone.run(*repro(TRAINED))
    as_without_a_kill(clone, TRAINED)
    assert list((clone.root / ".checkpoints").iterdir()) == []


VERSIONS = """
from pathlib import Path
import mlflow, pandas, yaml
from tasks.io.tracking import tracking_uri
mlflow.set_tracking_uri(tracking_uri(Path.cwd()))
name = yaml.safe_load(Path("params.yaml").read_text())["register"]["name"]
client = mlflow.MlflowClient()
for listed in client.search_model_versions(f"name='{name}'"):
    version = client.get_model_version(name, listed.version)
    model = mlflow.pyfunc.load_model(f"models:/{name}/{listed.version}")
    assert len(model.predict(pandas.DataFrame({"raw_title": ["baker"]}))) == 1
    print(version.version, *version.aliases)
"""


def versions(clone: Clone) -> str:
    """Return number and aliases of each registered version, after loading it."""
    return clone.python(VERSIONS).splitlines()[-1]


def test_registering(small: Clone, tmp_path: Path) -> None:
    """Kill it when the database begins, when a model is being logged, and when it is written."""
    clone = small.copied(tmp_path)
    registry = clone.root / ".mlflow"
    command = (sys.executable, "-m", "tasks.release.registry.register")

    def written() -> int:
        return sum(file.name == "MLmodel" for file in files_below(registry))

    kill_at(appears(registry / "mlflow.db"), clone, *command)
    kill_at(any_file_below(registry / "artifacts"), clone, *command)
    before = written()
    kill_at(lambda printed: written() > before, clone, *command)
    assert "rolecall version 1 registered; alias challenger" in clone.run(*command)
    assert versions(clone) == "1 challenger"
    assert clone.files() == small.files()
