"""A clone of this repository, in which commands run as a user would run them."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import yaml
from background import ROLECALL

ROOT = Path(__file__).resolve().parents[2]
FOREIGN = ("PREFECT_", "MLFLOW_", "DVC_", "GIT_", "PYTHON", "ROLECALL_")
QUIET = {
    **dict.fromkeys(("DO_NOT_TRACK", "MLFLOW_DISABLE_TELEMETRY"), "true"),
    **dict.fromkeys(("DVC_NO_ANALYTICS", "PYTHONUNBUFFERED"), "1"),
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "90",
    "ROLECALL_PROFILE": "sample",
}
OTHER = {"PYTHONHASHSEED": "4711", "TZ": "Asia/Kathmandu", "LC_ALL": "C"}
"""An environment that must not change a byte; neither may the number of `THREADS`."""
THREADS = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
PIPELINE = (  # folders of data/
    *("ingest", "split", "typos", "synonyms", "extra_words", "auxiliary_taxonomy", "pairs"),
    *("training_code_hash", "reference_model", "train", "simulate_feedback", "feedback"),
    *("lexical", "calibrate", "evaluate", "report", "table3"),
)
LONGER = {"max_steps": 120, "evaluate_every": 20}
"""Of section `train`: a training that is still at work when a kill comes that a line of it caused.

`patience` of looks cannot end it before the last step.
"""
FIRST_LOOK = f"step {LONGER['evaluate_every']}/{LONGER['max_steps']} "
MIX, SEED = "corrections", 1  # the defaults of `params.yaml`, of which `report` shows one model
MODEL = f"{MIX}-{SEED}"  # as in `evaluate@corrections-1`
IN_GIT = {"data/report/metrics.json"}  # of what stages write


@dataclass(frozen=True)
class Clone:
    """A working copy at `root`; `home` holds what the tools would keep in the user's home."""

    root: Path
    home: Path

    def environment(self, **changes: str) -> dict[str, str]:
        """Return this process's, less all settings of the tools, its interpreter first on PATH."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
        path = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
        return kept | QUIET | {"PREFECT_HOME": f"{self.home}/prefect", "PATH": path} | changes

    def try_run(self, *command: str, **changes: str) -> subprocess.CompletedProcess[str]:
        """Run `command` in the clone; stderr is part of stdout."""
        pipes: Any = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "text": True}
        own: Any = {"cwd": self.root, "env": self.environment(**changes), **pipes}
        return subprocess.run(command, stderr=subprocess.STDOUT, **own)

    def run(self, *command: str, **changes: str) -> str:
        """Return the output of a command that must succeed."""
        done = self.try_run(*command, **changes)
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout

    def git(self, *arguments: str) -> str:
        return self.run("git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments)

    def dvc(self, *arguments: str, **changes: str) -> str:
        return self.run(sys.executable, "-m", "dvc", *arguments, **changes)

    def python(self, code: str, *arguments: str, **changes: str) -> str:
        return self.run(sys.executable, "-c", code, *arguments, **changes)

    def rolecall(self, *arguments: str, **changes: str) -> str:
        return self.run(*ROLECALL, *arguments, **changes)

    @property
    def lock(self) -> str:
        """Return `dvc.lock` with its stages sorted; DVC's order may vary (`flows/dvc_plan.py`)."""
        return str(yaml.safe_dump(yaml.safe_load((self.root / "dvc.lock").read_bytes())))

    def stages(self) -> dict[str, Any]:
        """Return the finished stages of `dvc.lock` by name."""
        file = self.root / "dvc.lock"
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        return (yaml.safe_load(text) or {}).get("stages") or {}

    def changed(self) -> str:
        """Return what git says of the working tree: nothing, if all is as committed."""
        return self.git("status", "--porcelain", "--untracked-files=all")

    def is_up_to_date(self, target: str = "report") -> bool:
        """Ask of a target and what it needs; the stages of others may never have run."""
        return "Data and pipelines are up to date." in self.dvc("status", "--with-deps", target)

    def files(self, stages: Iterable[str] | None = None) -> dict[str, str]:
        """Hash every file of the outputs of `stages` in `dvc.lock`, or else of all folders."""
        outputs = [f"data/{name}" for name in PIPELINE]
        if stages is not None:
            outputs = [out["path"] for name in stages for out in self.stages()[name]["outs"]]
        paths = [self.root / output for output in outputs]
        written = [file for path in paths for file in (path, *path.rglob("*"))]
        return {
            file.relative_to(self.root).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in sorted(written)
            if file.is_file()
        }

    def rewound(self, parent: Path, stages: Iterable[str]) -> Self:
        """Copy this clone without the outputs of stages after `stages`, also in DVC's cache."""
        clone = self.copied(parent)
        later = clone.stages()
        done = {name: later.pop(name) for name in stages}
        made = clone._cached(later) - clone._cached(done)
        for digest in made:
            (clone._cache / digest[:2] / digest[2:]).unlink(missing_ok=True)
        shutil.rmtree(clone.root / ".dvc/cache/runs")
        for out in (out["path"] for stage in later.values() for out in stage["outs"]):
            path = clone.root / out
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        (clone.root / "dvc.lock").unlink()
        if done:
            lock = yaml.safe_dump({"schema": "2.0", "stages": done}, sort_keys=False)
            (clone.root / "dvc.lock").write_text(lock, encoding="utf-8")
        return clone

    @property
    def _cache(self) -> Path:
        return self.root / ".dvc/cache/files/md5"

    def _cached(self, stages: dict[str, Any]) -> set[str]:
        """Return the names in DVC's cache of what `stages` wrote, files within folders too."""
        names = {out["md5"] for stage in stages.values() for out in stage["outs"]}
        folders = [self._cache / name[:2] / name[2:] for name in names if name.endswith(".dir")]
        listed = (entry for folder in folders for entry in json.loads(folder.read_bytes()))
        return names | {entry["md5"] for entry in listed}

    def edit(self, name: str, changes: dict[str, Any]) -> None:
        """Change a file of YAML; names are dotted, and each must exist. Comments are lost."""
        tree = yaml.safe_load((self.root / name).read_text(encoding="utf-8"))
        for key, value in changes.items():
            *sections, last = key.split(".")
            branch = tree
            for section in sections:
                branch = branch[section]
            assert last in branch, key
            branch[last] = value
        text = yaml.safe_dump(tree, sort_keys=False, allow_unicode=True)
        (self.root / name).write_text(text, encoding="utf-8")

    def copied(self, parent: Path) -> Self:
        """Copy this clone with all that is ignored (data, cache, registry) to another folder."""
        parent.mkdir(parents=True, exist_ok=True)
        copy = parent / "clone"
        shutil.copytree(self.root, copy, symlinks=True)
        return Clone(copy, self.home)


def fresh_clone(parent: Path, home: Path, source: Path = ROOT) -> Clone:
    """Run `git clone` of `source` in `parent/clone`, and commit the changes of its working tree."""
    parent.mkdir(parents=True, exist_ok=True)
    clone = Clone(parent / "clone", home)
    subprocess.run(
        ["git", "clone", "--quiet", "--no-hardlinks", str(source), str(clone.root)], check=True
    )
    listed = ["git", "ls-files", "-z", "--modified", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=source, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        (clone.root / name).parent.mkdir(parents=True, exist_ok=True)
        if (source / name).is_file():
            shutil.copy(source / name, clone.root / name)
        else:
            (clone.root / name).unlink(missing_ok=True)
    if names:
        clone.git("add", "--all")
        clone.git("commit", "--quiet", "--allow-empty", "--message=uncommitted")
    return clone
