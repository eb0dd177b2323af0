"""The champion with later feedback, without training: `python -m tasks.release.feedback_patch`.

In: the champion's artefact and `data/feedback/{overrides,judged}.parquet`. Out: a version with the
same network, people's answers as overrides, and the titles that may be learned from as exemplars
(`tasks/release/model_package/patch.py`); the gate makes it champion unless it is significantly
worse. If exemplars do harm, the overrides alone are registered: they change only answers to titles
that people judged. Equal content is registered once, so that a killed run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tasks.io.command import run
from tasks.io.frames import read_frame, read_json, write_json
from tasks.io.hashes import content_hash
from tasks.io.schemas import JUDGED, OVERRIDES
from tasks.io.section import load
from tasks.io.tracking import registry
from tasks.pipeline.calibrate.params import CalibrateParams
from tasks.release.model_package import serving_file
from tasks.release.model_package.folder import VERSION, RunFiles
from tasks.release.model_package.patch import exemplify, learned, replace_overrides
from tasks.release.registry.champion_lock import champion_lock
from tasks.release.registry.loading import fetched
from tasks.release.registry.outcomes import RegisteredVersion, VersionAndDecision
from tasks.release.registry.promote import promote
from tasks.release.registry.register import (
    ARTEFACT,
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
"""Tags of the champion that hold for its correction, too."""
INSTEAD = "run `rolecall retrain`, which learns from the feedback as well"


def pick_up(root: Path) -> VersionAndDecision | None:
    """Apply the feedback; None if the champion has it already.

    Raises:
        ValueError: there is no champion, or it answers from another taxonomy or in another format.
    """
    registered = correct(root, exemplars=True)
    if registered is None:
        return None
    decision = promote(root, registered.version)
    if not decision.promoted:
        print(f"version {registered.version}: {decision.reason}", flush=True)
        registered = correct(root, exemplars=False) or registered
        decision = promote(root, registered.version)
    return registered, decision


def correct(root: Path, *, exemplars: bool) -> RegisteredVersion | None:
    """Register the champion with the feedback, once per content; None if it has all of it.

    `exemplars`: whether titles that may be learned from become exemplars.
    """
    sources = RunFiles.below(root)
    name = sources.register.name
    with champion_lock(root), registry(root) as client, scratch_folder(root) as temporary:
        champion = _champion(client, root, sources)
        artefact = temporary / ARTEFACT
        with fetched(f"models:/{champion.name}/{champion.version}", root) as (_, folder):
            shutil.copytree(folder / "artifacts" / ARTEFACT, artefact)
        overrides = read_frame(root / FEEDBACK / "overrides.parquet", OVERRIDES)
        if not replace_overrides(artefact, overrides):
            return None
        if exemplars:
            judged = read_frame(root / FEEDBACK / "judged.parquet", JUDGED)
            weight = load(CalibrateParams, root / "params.yaml").label_weight
            exemplify(artefact, judged["cleaned"], learned(judged, weight))
        changed = [artefact / f"{part}.parquet" for part in ("overrides", "exemplars")]
        digits = content_hash([*changed, *serving_file.sources()], champion.tags["artefact_hash"])
        earlier = find_version(client, name, digits)
        version = (
            str(earlier.version) if earlier else _add(client, root, champion, artefact, digits)
        )
        return as_registered(client, name, version, earlier is not None)


def _champion(client: MlflowClient, root: Path, sources: RunFiles) -> ModelVersion:
    from mlflow import MlflowException

    name = sources.register.name
    try:
        champion = client.get_model_version_by_alias(name, CHAMPION)
    except MlflowException:
        raise ValueError(f"{name} has no champion to correct: {INSTEAD}") from None
    if champion.tags.get("taxonomy_hash") != sources.taxonomy_hash():
        raise ValueError(
            f"champion version {champion.version} answers from another taxonomy than {root}: "
            f"{INSTEAD}"
        )
    return champion


def _add(
    client: MlflowClient, root: Path, champion: ModelVersion, artefact: Path, artefact_hash: str
) -> str:
    settings = read_json(artefact / "settings.json")
    settings["versions"]["model_version"] = artefact_hash[:VERSION]
    write_json(settings, artefact / "settings.json")
    tags = {tag: champion.tags[tag] for tag in KEPT}
    tags |= {"artefact_hash": artefact_hash, CORRECTS: str(champion.version)}
    packed = as_logged(artefact.parent, settings["top_k"])
    with temporary_files_in(artefact.parent):
        return add_version(client, root, champion.name, packed, tags, {})


def main() -> None:
    """Apply the feedback of the current directory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="the outcome as the last line, JSON")
    options = parser.parse_args()
    done = pick_up(Path.cwd())
    if done is None:
        print("the champion has all of the feedback already")
    else:
        word = "champion" if done[1].promoted else "not promoted"
        print(f"{done[0].name} version {done[0].version} {word}: {done[1].reason}")
    if options.json:
        outcome = done and {"registered": asdict(done[0]), "decision": asdict(done[1])}
        print(json.dumps(outcome))


if __name__ == "__main__":
    run(main)
