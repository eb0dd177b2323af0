"""The product in a folder of its own: its stages and commands, run as by a customer.

In: a finished workspace, of which the first network and the files before it are linked. Out: a
registry with versions. The outcome of each command is kept for a study that continues.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import yaml

from benchmarks.systems import RegisteredModel
from benchmarks.workspace import CODE, ONE_THREAD, stage_module
from models.reproducibility import write_bytes
from tasks.io.files import read_json, write_json
from tasks.io.mixes import CORRECTIONS, LAST
from tasks.io.tracking import SQLITE, URI
from tasks.release.registry.opening import stored
from tasks.release.registry.register import CHAMPION

BEFORE = LAST  # the mix without people's feedback
ANSWER = "answer_"  # how the columns of an answer begin
BY_MIX, OWN = ("pairs", "train", "calibrate"), ("feedback", "gate", "report", "bench")
"""Stages whose folders hold one a mix, and folders of which nothing is linked."""
JSON = "--json"


class Outcome(NamedTuple):
    """A version, and whether the gate made it champion."""

    version: str
    promoted: bool


@dataclass(frozen=True)
class Product:
    """A workspace in an absolute folder, with its registry; `seed` is of its trainings."""

    folder: Path
    seed: int

    @classmethod
    def of(cls, source: Path, folder: Path, seed: int) -> Product:
        """Link what the first network needs from the folder `source`, and write the parameters."""
        made = cls(folder.resolve(), seed)
        for stage in sorted((source / "data").iterdir()):
            if stage.name not in (*OWN, *BY_MIX):
                _link(stage, made.data / stage.name)
        _link(source / "data/pairs" / BEFORE, made.data / "pairs" / BEFORE)
        for stage in (source / "data" / name / BEFORE / str(seed) for name in BY_MIX[1:]):
            if stage.is_dir():
                _link(stage, made.data / stage.parent.parent.name / BEFORE / str(seed))
        _link(source / "dvc.lock", made.folder / "dvc.lock")
        params = yaml.safe_load((source / "params.yaml").read_text(encoding="utf-8"))
        params |= {"mix": CORRECTIONS, "seeds": [seed]}
        params["feedback"] |= {"folder": "feedback", "from_labels": False, "columns": {}}
        made._write_params(params)
        (made.folder / "feedback").mkdir(exist_ok=True)
        return made

    @property
    def data(self) -> Path:
        """Folder of the stages' files."""
        return self.folder / "data"

    def train_first(self) -> None:
        """Train and calibrate the first network, unless it is linked."""
        for stage in BY_MIX[1:]:
            if not (self.data / stage / BEFORE / str(self.seed)).is_dir():
                self._stage("first", stage, BEFORE)

    def register_first(self) -> str:
        """Make the first network champion, and return its version."""
        params = self._params()
        self._write_params(params | {"mix": BEFORE})
        first = self._registered("first")
        self._write_params(params | {"mix": CORRECTIONS})
        if not first.promoted:
            raise ValueError(f"the gate refuses the first version, in {self.folder}/data/gate")
        return first.version

    def answer(self, week: str, inputs: pl.DataFrame) -> pl.DataFrame:
        """Answer inputs with the champion, as a bulk run: columns that begin with `ANSWER`."""
        source, answers = self.folder / f"{week}.parquet", self._answers(week)
        if not source.is_file():
            inputs.write_parquet(source)
        model = f"models:/{self._name}@{CHAMPION}"
        options = ["--column", "raw_title", "--prefix", ANSWER, "--threads", "1"]
        options += ["--model", model, "--cache-dir", ".prediction_cache"]
        self.command(f"{week}-normalize", "tasks.apps.bulk.normalize", [source, answers, *options])
        return pl.read_parquet(answers)

    def queue(self, weeks: Sequence[str], budget: int) -> pl.DataFrame:
        """Return the queue of the answers of these weeks, the newest last, as its file has it."""
        folder = self.folder / f"{weeks[-1]}-queue"
        arguments = [*map(self._answers, weeks), folder, "--budget", str(budget)]
        self.command(f"{weeks[-1]}-review", "tasks.apps.review.queue", arguments)
        return pl.read_csv(folder / "queue.csv", infer_schema=False)

    def apply_feedback(self, week: str) -> tuple[Outcome | None, Outcome | None]:
        """Apply reviews to the champion, and to a challenger that waits; None: nothing changed."""
        self._stage(week, "feedback")
        done = self.command(f"{week}-patch", "tasks.release.feedback_patch", [JSON])
        champion, waiting = (
            one and Outcome(one["registered"]["version"], one["decision"]["promoted"])
            for one in (done["champion"], done["waiting"])
        )
        return champion, waiting

    def retrain(self, week: str) -> Outcome:
        """Train with the reviews, register and let the gate decide."""
        for stage in ("pairs", "train_feedback", "calibrate"):
            self._stage(week, stage, CORRECTIONS)
        return self._registered(week)

    def model(self, version: str) -> RegisteredModel:
        """Load a registered version."""
        database = self.folder / ".mlflow/mlflow.db"
        found = stored(f"models:/{self._name}/{version}", f"{SQLITE}{database}")
        if found is None:
            raise ValueError(f"{database} holds no version {version} of {self._name}")
        return RegisteredModel.load(found[1])

    def command(self, name: str, module: str, arguments: Sequence[object]) -> Any:  # noqa: ANN401
        """Run a module once, with the registry in the folder; with `JSON` return its last line."""
        note = self.folder / "done" / f"{name}.json"
        if not note.is_file():
            command = [sys.executable, "-m", module, *map(str, arguments)]
            path = os.pathsep.join(filter(None, [str(CODE), os.environ.get("PYTHONPATH")]))
            own = {"PYTHONPATH": path, "GIT_CEILING_DIRECTORIES": str(self.folder.parent)}
            kept = {key: value for key, value in os.environ.items() if key != URI}
            environment = kept | ONE_THREAD | own
            done = subprocess.run(
                command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, text=True
            )
            if done.returncode:
                raise RuntimeError(f"{' '.join(command)} failed in {self.folder}:\n{done.stdout}")
            last = done.stdout.strip().rpartition("\n")[2]
            write_json(json.loads(last) if JSON in arguments else None, note)
            print(f"{self.folder.name}: {name}", flush=True)
        return read_json(note)

    def _stage(self, week: str, stage: str, mix: str = "") -> None:
        arguments = ["--mix", mix] * bool(mix)
        arguments += ["--seed", str(self.seed)] * (stage not in ("pairs", "feedback"))
        self.command(f"{week}-{stage}", stage_module(stage), arguments)

    def _registered(self, week: str) -> Outcome:
        made = self.command(f"{week}-register", "tasks.release.registry.register", [JSON])
        judged = ["--version", version := made["version"], JSON]
        decision = self.command(f"{week}-promote", "tasks.release.registry.promote", judged)
        print(f"{self.folder.name}: version {version}: {decision['reason']}", flush=True)
        return Outcome(version, decision["promoted"])

    def _answers(self, week: str) -> Path:
        return self.folder / f"{week}-answers.parquet"

    @property
    def _name(self) -> str:
        return str(self._params()["register"]["name"])

    def _params(self) -> Any:  # noqa: ANN401
        return yaml.safe_load((self.folder / "params.yaml").read_text("utf-8"))

    def _write_params(self, params: dict[str, Any]) -> None:
        write_bytes(yaml.safe_dump(params).encode(), self.folder / "params.yaml")


def _link(source: Path, path: Path) -> None:
    if not path.is_symlink():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(source.resolve())
