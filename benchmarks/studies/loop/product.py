"""The product in a folder of its own: its stages and commands, run as by a customer.

In: a finished workspace, of which the first network and the files before it are linked. Out: a
registry, and versions in it. The outcome of each command is kept, so that a killed study goes on
behind the last one that ended.
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

from models.normalizer.normalizer import Normalizer
from models.reproducibility.atomic_write import write_bytes
from tasks.io.frames import read_json, write_json
from tasks.io.mixes import CORRECTIONS, LAST
from tasks.io.tracking import SQLITE, URI
from tasks.release.registry.opening import stored
from tasks.release.registry.register import ARTEFACT, CHAMPION

ROOT = Path(__file__).resolve().parents[3]
BEFORE = LAST
"""The mix without people's feedback."""
ANSWER = "answer_"
"""How the columns of an answer begin."""
BY_MIX, OWN = ("pairs", "train", "calibrate"), ("feedback", "gate", "report", "bench")
"""Stages whose folders hold one a mix, and folders of which nothing is linked."""
JSON = "--json"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}


class Outcome(NamedTuple):
    """A version, and whether the gate made it champion."""

    version: str
    promoted: bool


@dataclass(frozen=True)
class Product:
    """A workspace and its registry.

    Attributes:
        folder: absolute.
        seed: of its trainings.
    """

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
        _write_params(made.folder, params)
        made.reviews.mkdir(exist_ok=True)
        return made

    @property
    def data(self) -> Path:
        """Folder of the stages' files."""
        return self.folder / "data"

    @property
    def reviews(self) -> Path:
        """Folder of people's files."""
        return self.folder / "feedback"

    def train_first(self) -> None:
        """Train and calibrate the first network, unless it is linked."""
        for stage in BY_MIX[1:]:
            if not (self.data / stage / BEFORE / str(self.seed)).is_dir():
                self._stage("first", stage, BEFORE)

    def register_first(self) -> str:
        """Make the first network champion, and return its version.

        Raises:
            ValueError: the gate refuses it.
        """
        params = yaml.safe_load((self.folder / "params.yaml").read_text(encoding="utf-8"))
        _write_params(self.folder, params | {"mix": BEFORE})
        first = self._registered("first")
        _write_params(self.folder, params | {"mix": CORRECTIONS})
        if not first.promoted:
            raise ValueError(f"the gate refuses the first version, in {self.folder}/data/gate")
        return first.version

    def answer(self, week: str, inputs: pl.DataFrame) -> pl.DataFrame:
        """Answer inputs (`query_id, raw_title`) with the champion, as a bulk run.

        Their answers are columns whose names begin with `ANSWER`.
        """
        source, answers = self.folder / f"{week}.parquet", self._answers(week)
        if not source.is_file():
            inputs.write_parquet(source)
        model = f"models:/{self._name}@{CHAMPION}"
        options = ["--column", "raw_title", "--prefix", ANSWER, "--threads", "1"]
        options += ["--model", model, "--cache-dir", ".prediction_cache"]
        self.command(f"{week}-normalize", "tasks.apps.bulk", [source, answers, *options])
        return pl.read_parquet(answers)

    def queue(self, weeks: Sequence[str], budget: int) -> pl.DataFrame:
        """Return the queue of the answers of these weeks, the newest last, as its file has it."""
        place = self.folder / f"{weeks[-1]}-queue"
        arguments = [*map(self._answers, weeks), place, "--budget", str(budget)]
        self.command(f"{weeks[-1]}-review", "tasks.apps.review", arguments)
        return pl.read_csv(place / "queue.csv", infer_schema=False)

    def apply_feedback(self, week: str) -> tuple[Outcome | None, Outcome | None]:
        """Apply the reviews without training to the champion, and to a challenger that waits.

        None where they change nothing.
        """
        self.command(f"{week}-feedback", "tasks.pipeline.feedback.stage", [])
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

    def normalizer(self, version: str) -> Normalizer:
        """Read a registered version."""
        from tasks.release.model_package.reading import read_normalizer  # numba takes seconds

        found = stored(f"models:/{self._name}/{version}", f"{SQLITE}{self._database}")
        if found is None:
            raise ValueError(f"{self._database} holds no version {version} of {self._name}")
        return read_normalizer(found[1] / "artifacts" / ARTEFACT)

    def command(self, name: str, module: str, arguments: Sequence[object]) -> Any:  # noqa: ANN401
        """Run a module of the product once; with `JSON` return what its last line says.

        Raises:
            RuntimeError: it failed.
        """
        note = self.folder / "done" / f"{name}.json"
        if not note.is_file():
            command = [sys.executable, "-m", module, *map(str, arguments)]
            done = subprocess.run(
                command,
                cwd=self.folder,
                env=self._surroundings(),
                stdout=subprocess.PIPE,
                text=True,
            )
            if done.returncode:
                raise RuntimeError(f"{' '.join(command)} failed in {self.folder}:\n{done.stdout}")
            last = done.stdout.strip().rpartition("\n")[2]
            write_json(json.loads(last) if JSON in arguments else None, note)
            print(f"{self.folder.name}: {name}", flush=True)
        return read_json(note)

    def _stage(self, week: str, stage: str, mix: str) -> None:
        seed = [] if stage == "pairs" else ["--seed", str(self.seed)]
        module = f"tasks.pipeline.{stage}.stage"
        self.command(f"{week}-{stage}", module, ["--mix", mix, *seed])

    def _registered(self, week: str) -> Outcome:
        registry = "tasks.release.registry"
        version = self.command(f"{week}-register", f"{registry}.register", [JSON])["version"]
        judged = ["--version", version, JSON]
        decision = self.command(f"{week}-promote", f"{registry}.promote", judged)
        print(f"{self.folder.name}: version {version}: {decision['reason']}", flush=True)
        return Outcome(version, decision["promoted"])

    def _answers(self, week: str) -> Path:
        return self.folder / f"{week}-answers.parquet"

    @property
    def _name(self) -> str:
        params = yaml.safe_load((self.folder / "params.yaml").read_text(encoding="utf-8"))
        return str(params["register"]["name"])

    @property
    def _database(self) -> Path:
        return self.folder / ".mlflow/mlflow.db"

    def _surroundings(self) -> dict[str, str]:
        """Keep git from finding a repository above, so that the registry lies in the folder."""
        kept = {name: value for name, value in os.environ.items() if name != URI}
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        ceiling = str(self.folder.parent)
        return {**kept, **ONE_THREAD, "PYTHONPATH": path, "GIT_CEILING_DIRECTORIES": ceiling}


def _link(source: Path, place: Path) -> None:
    if not place.is_symlink():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(source.resolve())


def _write_params(folder: Path, params: dict[str, Any]) -> None:
    write_bytes(yaml.safe_dump(params).encode(), folder / "params.yaml")
