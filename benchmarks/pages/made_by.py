"""What made figures: hashes of the code that computes them and of the data that it reads.

A run of `results/runs.csv` carries both. It is *stale* once the code, or the data of the sample,
would have another: pages say so until the study has been measured again.

Code is every module behind a study that computes numbers (`COMPUTING`), without comments, the kinds
of encoder and loss that the study, its command or its data set's parameters name, and these
parameters. Data is what the study needs and what its networks are asked, by the hashes of
`dvc.lock`, or a publisher's file. Only the sample's are compared: git keeps its `dvc.lock`, so that
pages are the same in every clone.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from benchmarks.results import Line
from benchmarks.study import HERE, OUTSIDE, Study
from benchmarks.workspace import SAMPLE, data_folder, place
from flows.workspaces.profiles import merged, read_profile
from models.network.kinds import kinds
from tasks.code import PACKAGES, code_hash, import_closure
from tasks.files.command import ROOT

COMPUTING = (
    *("models/", "tasks/evaluation/", "tasks/evidence/", "tasks/pairing/", "benchmarks/"),
    "tasks/reporting/nearest.py",
)
BEHIND = (*PACKAGES, "benchmarks")
NOTING = ("benchmarks/results.py", "benchmarks/study.py")
"""What writes figures down and computes none."""
ASKED = tuple(f"data/{stage}" for stage in ("split", "typos", "synonyms", "extra_words"))
READ = ("train", "evaluate", "evidence")
"""Sections of `params.yaml` that shape networks and answers, besides those of their kinds."""
OWN = ("training", "encoders", "tried")
"""What `study.yaml` may say of networks."""
DIGITS = 12
_code_hash = cache(code_hash)


def made_by(study: Study, dataset: str, command: str) -> dict[str, str]:
    """Return the hashes `code` and `data` of a run; of data that is not there it is empty."""
    return {"code": _code(study.name, dataset, command), "data": _data(study, dataset)}


def stale(study: Study, run: Line, datasets: list[str]) -> str:
    """Say what of a run has changed since: `code`, `data`, both, or nothing.

    Args:
        study: that measured.
        run: its row of `runs.csv`.
        datasets: that its figures are of.
    """
    if not run["code"]:
        return "not recorded"
    changed: set[str] = set()
    for dataset in datasets:
        if _code(study.name, dataset, run["command"]) != run["code"]:
            changed.add("code")
        if dataset == SAMPLE and _data(study, dataset) != run["data"]:
            changed.add("data")
    return ", ".join(sorted(changed))


@cache
def _code(name: str, dataset: str, command: str) -> str:
    folder = HERE / "studies" / name
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.*"))]
    params, profile = _parameters(dataset)
    named = set(re.findall(r"\w+", " ".join([*texts, command, yaml.safe_dump(params["train"])])))
    modules, shaping = [f"benchmarks.studies.{name}.measure"], {part: params[part] for part in READ}
    for package in ("encoders", "losses"):
        used = [kind for kind in kinds(package) if kind in named]
        modules += [f"models.{package}.{kind}" for kind in used]
        shaping |= {kind: params[package].get(kind) for kind in used}
    face = Study(name).face
    shaping |= {part: face[part] for part in OWN if part in face}
    files = {path.relative_to(ROOT).as_posix(): path for path in import_closure(modules, BEHIND)}
    lines = [
        f"{file} {_code_hash(path)}"
        for file, path in sorted(files.items())
        if file.startswith(COMPUTING) and file not in NOTING
    ]
    lines.append(yaml.safe_dump([shaping, profile]))
    return _short("\n".join(lines).encode())


def _parameters(dataset: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return `params.yaml` with the profile of that name laid over it, and the profile, if any."""
    base = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    folder = ROOT / "profiles"
    profile = read_profile(folder, dataset)[0] if (folder / f"{dataset}.yaml").is_file() else {}
    return merged(base, profile), profile


def _data(study: Study, dataset: str) -> str:
    file = study.needs(dataset)
    if file.startswith(OUTSIDE):
        path = data_folder() / file.removeprefix(OUTSIDE)
        return _short(path.read_bytes()) if path.is_file() else ""
    lock = place(dataset) / "dvc.lock"
    return _locked(lock, file) if lock.is_file() else ""


@cache
def _locked(lock: Path, file: str) -> str:
    """Hash what a lock file says of a file's output, and of those that hold what is asked."""
    stages = yaml.safe_load(lock.read_text(encoding="utf-8"))["stages"]
    outs = {out["path"]: out["md5"] for stage in stages.values() for out in stage.get("outs", [])}
    own = [
        f"{path} {value}"
        for path, value in sorted(outs.items())
        if file.startswith(path) or path.startswith(ASKED)
    ]
    return _short("\n".join(own).encode())


def _short(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:DIGITS]
