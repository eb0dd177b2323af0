"""Later feedback without training: `python -m tasks.release.feedback_patch`.

In: the champion's artefact and `data/feedback/{overrides,judged}.parquet`. Out: a version with the
same network, people's answers as overrides, and the titles that may be learned from as exemplars
(`tasks/release/model_package/patch.py`); the gate makes it champion unless it is significantly
worse. If exemplars do harm, the overrides alone are registered: they change only answers to titles
that people judged. A challenger that waits for people's replies gets the feedback as well, and is
judged by these replies once more. Equal content is registered once, so that a killed run goes on
where it stopped.
"""

from __future__ import annotations

import argparse
import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks.io.command import run
from tasks.io.frames import read_frame, read_json, write_json
from tasks.io.hashes import content_hash
from tasks.io.schemas import JUDGED, OVERRIDES
from tasks.io.section import load
from tasks.io.tracking import registry
from tasks.pipeline.calibrate.params import CalibrateParams
from tasks.release.gate.waiting import note_that_none_waits, waiting_version
from tasks.release.model_package import serving_file
from tasks.release.model_package.patch import exemplify, learned, replace_overrides
from tasks.release.model_package.run_files import VERSION, RunFiles
from tasks.release.registry.champion_lock import champion_lock
from tasks.release.registry.loading import fetched
from tasks.release.registry.outcomes import Patched, RegisteredVersion, VersionAndDecision
from tasks.release.registry.promote import promote
from tasks.release.registry.register import (
    ARTEFACT,
    CARRIED_OUT,
    CHAMPION,
    CORRECTS,
    add_version,
    as_logged,
    as_registered,
    find_version,
)
from tasks.release.registry.scratch import scratch_folder, temporary_files_in

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities.model_registry import ModelVersion

FEEDBACK = Path("data/feedback")
KEPT = ("taxonomy_hash", "mix", "train_seed")
"""Tags of a version that hold for its correction, too."""
CHANGED = ("overrides", "exemplars", "occupations")
"""Tables of the artefact that feedback changes."""
INSTEAD = "run `rolecall retrain`, which learns from the feedback as well"


def pick_up(root: Path) -> VersionAndDecision | None:
    """Apply the feedback; None if the champion has it already.

    A version with it that was champion and was taken back stays so.

    Raises:
        ValueError: there is no champion, or it answers from another taxonomy or in another format.
    """
    registered = correct(root, exemplars=True)
    if registered is None:
        return None
    decision = promote(root, registered.version)
    if not decision.promoted and not _was_champion(root, registered):
        print(f"version {registered.version}: {decision.reason}", flush=True)
        registered = correct(root, exemplars=False) or registered
        decision = promote(root, registered.version)
    return registered, decision


def judge_again(root: Path) -> VersionAndDecision | None:
    """Judge the challenger that waits for replies; None if none waits, or nobody replied since.

    One that cannot get the feedback, for example because it was deleted, waits no longer.
    """
    waiting = waiting_version(root)
    try:
        registered = waiting and correct(root, exemplars=True, version=waiting)
    except ValueError as error:
        print(f"version {waiting} waits for replies no longer: {error}", flush=True)
        note_that_none_waits(root)
        return None
    return (registered, promote(root, registered.version)) if registered else None


def correct(root: Path, *, exemplars: bool, version: str | None = None) -> RegisteredVersion | None:
    """Register a version with the feedback, once per content; None if it has all of it.

    `exemplars`: whether titles that may be learned from become exemplars; `version`: default: the
    champion.
    """
    sources = RunFiles.below(root)
    name = sources.register.name
    with champion_lock(root), registry(root) as client, scratch_folder(root) as temporary:
        base = _base(client, root, sources, version)
        artefact = temporary / ARTEFACT
        with fetched(f"models:/{base.name}/{base.version}", root) as (_, folder):
            shutil.copytree(folder / "artifacts" / ARTEFACT, artefact)
        overrides = read_frame(root / FEEDBACK / "overrides.parquet", OVERRIDES)
        if not replace_overrides(artefact, overrides):
            return None
        if exemplars:
            judged = read_frame(root / FEEDBACK / "judged.parquet", JUDGED)
            params = load(CalibrateParams, root / "params.yaml")
            exemplify(artefact, judged["cleaned"], learned(judged, params.label_weight), params)
        changed = [artefact / f"{part}.parquet" for part in CHANGED]
        digits = content_hash([*changed, *serving_file.sources()], base.tags["artefact_hash"])
        earlier = find_version(client, name, digits)
        number = str(earlier.version) if earlier else _add(client, root, base, artefact, digits)
        return as_registered(client, name, number, earlier is not None)


def _base(client: MlflowClient, root: Path, sources: RunFiles, version: str | None) -> ModelVersion:
    """Find the version to be corrected, by default the champion."""
    from mlflow import MlflowException

    name = sources.register.name
    try:
        if version:
            base = client.get_model_version(name, version)
        else:
            base = client.get_model_version_by_alias(name, CHAMPION)
    except MlflowException:
        missing = f"version {version}" if version else "champion"
        raise ValueError(f"{name} has no {missing} to correct: {INSTEAD}") from None
    if base.tags.get("taxonomy_hash") != sources.taxonomy_hash():
        raise ValueError(
            f"version {base.version} answers from another taxonomy than {root}: {INSTEAD}"
        )
    return base


def _add(
    client: MlflowClient, root: Path, base: ModelVersion, artefact: Path, artefact_hash: str
) -> str:
    settings = read_json(artefact / "settings.json")
    settings["versions"]["model_version"] = artefact_hash[:VERSION]
    write_json(settings, artefact / "settings.json")
    tags = {tag: base.tags[tag] for tag in KEPT}
    tags |= {"artefact_hash": artefact_hash, CORRECTS: str(base.version)}
    packed = as_logged(artefact.parent, settings["top_k"])
    with temporary_files_in(artefact.parent):
        return add_version(client, root, base.name, packed, tags, {})


def _was_champion(root: Path, version: RegisteredVersion) -> bool:
    with registry(root) as client:
        return CARRIED_OUT in client.get_model_version(version.name, version.version).tags


def main() -> None:
    """Apply the feedback of the current directory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="the outcome as the last line, JSON")
    options = parser.parse_args()
    root = Path.cwd()
    done = Patched(pick_up(root), judge_again(root))
    if done.champion is None:
        print("the champion has all of the feedback already")
    for registered, decision in filter(None, done):
        word = "champion" if decision.promoted else "not promoted"
        print(f"{registered.name} version {registered.version} {word}: {decision.reason}")
    if options.json:
        print(json.dumps({name: _as_json(one) for name, one in done._asdict().items()}))


def _as_json(done: VersionAndDecision | None) -> dict[str, Any] | None:
    return done and {"registered": asdict(done[0]), "decision": asdict(done[1])}


if __name__ == "__main__":
    run(main)
