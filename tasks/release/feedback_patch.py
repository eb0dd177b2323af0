"""Later feedback without training: `python -m tasks.release.feedback_patch`.

In: the champion's artifact and `data/feedback/{overrides,resolutions}.parquet`. Out: a version with
the same network, people's answers as overrides, and the titles that may be learned from as
exemplars; the gate makes it champion unless it is significantly worse. If exemplars do harm, the
overrides alone are registered. A challenger that waits for people's verdicts gets the feedback as
well, and is judged once more. Equal content is registered once, so that a killed run goes on.
"""

from __future__ import annotations

import argparse
import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tasks.io.command import run
from tasks.io.files import content_hash, read_json, write_json
from tasks.io.frames import read_frame
from tasks.io.schemas import OVERRIDES, RESOLUTIONS
from tasks.io.section import load
from tasks.io.tracking import registry
from tasks.pipeline.calibrate.prior import CalibrateParams
from tasks.release.gate.disputed import note_that_none_waits, waiting_version
from tasks.release.model_package import runtime
from tasks.release.model_package.patch import exemplify, learned, replace_overrides
from tasks.release.model_package.run_files import VERSION, RunFiles
from tasks.release.registry.locks import champion_lock, scratch_folder
from tasks.release.registry.opening import fetched
from tasks.release.registry.outcomes import Patched, RegisteredVersion, VersionAndDecision
from tasks.release.registry.promote import promote
from tasks.release.registry.register import (
    ARTIFACT,
    CARRIED_OUT,
    CHAMPION,
    CORRECTS,
    add_version,
    as_registered,
    find_version,
)

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities.model_registry import ModelVersion

FEEDBACK = Path("data/feedback")
KEPT = ("taxonomy_hash", "mix", "train_seed")  # tags of a version that hold for its correction, too
CHANGED = ("overrides", "exemplars", "occupations")  # tables of the artifact that feedback changes
INSTEAD = "run `rolecall retrain`, which learns from the feedback as well"


def apply_patches(root: Path) -> Patched:
    """Apply the feedback to the champion, and to the challenger that waits; judge both."""
    return Patched(pick_up(root), judge_again(root))


def pick_up(root: Path) -> VersionAndDecision | None:
    """Apply the feedback; None if the champion has it already.

    A version with it that was champion and was taken back stays so. A ValueError says that there is
    no champion, or that it answers from another taxonomy or in another format.
    """
    registered = correct(root, exemplars=True)
    if registered is None:
        return None
    decision = promote(root, registered.version)
    with registry(root) as client:
        version = client.get_model_version(registered.name, registered.version)
    if not decision.promoted and CARRIED_OUT not in version.tags:
        print(f"version {registered.version}: {decision.reason}", flush=True)
        registered = correct(root, exemplars=False) or registered
        decision = promote(root, registered.version)
    return registered, decision


def judge_again(root: Path) -> VersionAndDecision | None:
    """Judge the challenger that waits for verdicts; None if none waits, or there are no new ones.

    One that cannot get the feedback, for example because it was deleted, waits no longer.
    """
    waiting = waiting_version(root)
    try:
        registered = waiting and correct(root, exemplars=True, version=waiting)
    except ValueError as error:
        print(f"version {waiting} waits for verdicts no longer: {error}", flush=True)
        note_that_none_waits(root)
        return None
    return (registered, promote(root, registered.version)) if registered else None


def correct(root: Path, *, exemplars: bool, version: str | None = None) -> RegisteredVersion | None:
    """Register a version with the feedback, once per content; None if it has all of it.

    `exemplars`: with the titles that may be learned from; `version`: the champion by default.
    """
    sources = RunFiles.below(root)
    name = sources.register.name
    with champion_lock(root), registry(root) as client, scratch_folder(root) as temporary:
        base = _base(client, root, sources, version)
        artifact = temporary / ARTIFACT
        with fetched(f"models:/{base.name}/{base.version}", root) as (_, folder):
            shutil.copytree(folder / "artifacts" / ARTIFACT, artifact)
        overrides = read_frame(root / FEEDBACK / "overrides.parquet", OVERRIDES)
        if not replace_overrides(artifact, overrides):
            return None
        if exemplars:
            resolutions = read_frame(root / FEEDBACK / "resolutions.parquet", RESOLUTIONS)
            params = load(CalibrateParams, root / "params.yaml")
            exemplars_learned = learned(resolutions, params.label_weight)
            exemplify(artifact, resolutions["cleaned"], exemplars_learned, params)
        changed = [artifact / f"{part}.parquet" for part in CHANGED]
        digits = content_hash([*changed, *runtime.sources()], base.tags["artifact_hash"])
        if earlier := find_version(client, name, digits):
            return as_registered(client, name, str(earlier.version), True)
        settings = read_json(artifact / "settings.json")
        settings["versions"]["model_version"] = digits[:VERSION]
        write_json(settings, artifact / "settings.json")
        tags = {tag: base.tags[tag] for tag in KEPT}
        tags |= {"artifact_hash": digits, CORRECTS: str(base.version)}
        number = add_version(client, root, name, temporary, settings["top_k"], tags, {})
        return as_registered(client, name, number, False)


def _base(client: MlflowClient, root: Path, sources: RunFiles, version: str | None) -> ModelVersion:
    """Find the version to be corrected, by default the champion."""
    from mlflow import MlflowException

    name = sources.register.name
    get = client.get_model_version if version else client.get_model_version_by_alias
    try:
        base = get(name, version or CHAMPION)
    except MlflowException:
        missing = f"version {version}" if version else "champion"
        raise ValueError(f"{name} has no {missing} to correct: {INSTEAD}") from None
    if base.tags.get("taxonomy_hash") != sources.taxonomy_hash():
        fault = f"version {base.version} answers from another taxonomy than {root}"
        raise ValueError(f"{fault}: {INSTEAD}")
    return base


def main() -> None:
    """Apply the feedback of the current directory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="the outcome as the last line, JSON")
    options = parser.parse_args()
    done = apply_patches(Path.cwd())
    if done.champion is None:
        print("the champion has all of the feedback already")
    for registered, decision in filter(None, done):
        word = "champion" if decision.promoted else "not promoted"
        print(f"{registered.name} version {registered.version} {word}: {decision.reason}")
    if options.json:
        outcomes = {
            name: one and {"registered": asdict(one[0]), "decision": asdict(one[1])}
            for name, one in done._asdict().items()
        }
        print(json.dumps(outcomes))


if __name__ == "__main__":
    run(main)
