"""A kill in the middle of any step, then the same command: the same bytes as without the kill."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from clones import FIRST_LOOK, LONGER, MIX, MODEL, SEED, Clone
from kills import any_file_below, appears, kill_at, resumed_at, says, survivors

from flows.stages.dvc_stages import DVC

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="looks for survivors in /proc"),
]
TRAINED = f"train@{MODEL}"
LAST = {  # one stage of each kind, and what it writes last
    "ingest": "data/ingest/metrics.json",
    "split": "data/split/metrics.json",
    "typos": "data/typos/metrics.json",
    "synonyms": "data/synonyms/metrics.json",
    "extra_words": "data/extra_words/metrics.json",
    "auxiliary_taxonomy": "data/auxiliary_taxonomy/metrics.json",
    "pairs@base": "data/pairs/base/metrics.json",
    "pairs@typos": "data/pairs/typos/metrics.json",
    "training_code_hash": "data/training_code_hash/train.json",
    "reference_model": "data/reference_model/address",
    "teacher": "data/teacher/metrics.json",
    "simulate_feedback": "data/simulate_feedback/metrics.json",
    "feedback": "data/feedback/metrics.json",
    f"pairs@{MIX}": f"data/pairs/{MIX}/metrics.json",
    TRAINED: f"data/train/{MIX}/{SEED}/history.csv",
    "lexical": "data/lexical/metrics.json",
    f"calibrate@{MODEL}": f"data/calibrate/{MIX}/{SEED}/metrics.json",
    f"evaluate@{MODEL}": f"data/evaluate/{MIX}/{SEED}/metrics.json",
    "report": "data/report/report.html",
}
Before = Callable[[str], Clone]
Check = Callable[[Clone, str], None]
PLAN = """
from pathlib import Path
from flows.stages.dvc_plan import plan_and_skipped
print(*plan_and_skipped(Path.cwd(), "report")[0])
"""


def repro(stage: str) -> tuple[str, ...]:
    """Write the command as the flow calls it."""
    return (sys.executable, "-m", DVC, "--wait-for-lock", "repro", "--single-item", stage)


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


def outputs(clone: Clone, stage: str) -> Path:
    return (clone.root / LAST[stage]).parent


@pytest.mark.parametrize(
    ("stage", "moment"),
    [
        *((stage, "first file") for stage in LAST),
        *(
            (stage, "last file")
            for stage in ("ingest", "pairs@base", TRAINED, "feedback", "report")
        ),
    ],
)
def test_a_stage(before: Before, as_without_a_kill: Check, stage: str, moment: str) -> None:
    """Kill it when its first file begins, or when its last is whole and DVC takes them over."""
    clone = before(stage)
    last = clone.root / LAST[stage]
    at = appears(last) if moment == "last file" else any_file_below(outputs(clone, stage))
    kill_at(at, clone, *repro(stage))
    assert survivors(clone, 0.5) == []
    assert stage not in clone.stages()

    clone.run(*repro(stage))
    as_without_a_kill(clone, stage)


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        (TRAINED, "similar pairs,"),
        ("lexical", "tfidf: "),
        (f"evaluate@{MODEL}", f"{MIX}: "),
    ],
)
def test_a_stage_that_has_written_nothing(
    before: Before, as_without_a_kill: Check, stage: str, words: str
) -> None:
    clone = before(stage)
    kill_at(says(words), clone, *repro(stage))
    printed = clone.run(*repro(stage))
    assert "resumed at step" not in printed
    as_without_a_kill(clone, stage)


def test_training_goes_on_from_its_checkpoint(before: Before, as_without_a_kill: Check) -> None:
    """Kill twice; each time it goes on from the last look, and nothing of it is left behind."""
    clone = before(TRAINED)
    later, last = LONGER["max_steps"] // 2, LONGER["max_steps"]
    kill_at(says(FIRST_LOOK), clone, *repro(TRAINED))
    printed = kill_at(says(f"step {later}/{last} "), clone, *repro(TRAINED))
    assert LONGER["evaluate_every"] <= resumed_at(printed) < later
    assert later <= resumed_at(clone.run(*repro(TRAINED))) < last
    as_without_a_kill(clone, TRAINED)
    assert list((clone.root / ".checkpoints").iterdir()) == []


def test_the_flow_in_training(small: Clone, before: Before) -> None:
    """Leave no survivor to write; the next run resumes, and ends as if there had been no kill."""
    clone = before(TRAINED)
    flow = (sys.executable, "-m", "flows.cli", "retrain")
    kill_at(says(FIRST_LOOK), clone, *flow)
    assert survivors(clone) == []
    assert LONGER["evaluate_every"] <= resumed_at(clone.run(*flow)) < LONGER["max_steps"]
    assert clone.lock == small.lock
    assert clone.files() == small.files()
    assert versions(clone) in ("1 challenger", "1 champion")


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


@pytest.mark.parametrize("moment", ["database", "artifacts", "model file"])
def test_registering(small: Clone, moment: str, tmp_path: Path) -> None:
    """Kill it when the database begins, when the model is being logged, and when it is written."""
    clone = small.copied(tmp_path)
    registry = clone.root / ".mlflow"
    at = {
        "database": appears(registry / "mlflow.db"),
        "artifacts": any_file_below(registry / "artifacts"),
        "model file": lambda printed: any(registry.rglob("MLmodel")),
    }[moment]
    command = (sys.executable, "-m", "tasks.release.registry.register")
    kill_at(at, clone, *command)
    assert "rolecall version 1 registered; alias challenger" in clone.run(*command)
    assert "rolecall version 1 was registered already" in clone.run(*command)
    assert versions(clone) == "1 challenger"
    assert clone.files() == small.files()
