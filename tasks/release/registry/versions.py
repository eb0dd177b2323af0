"""The versions of a model: a list of them, and an earlier champion again.

Tags of both versions say which one was taken back, when, why, and which took over. The tag of the
first is written before the alias moves, so that the next rollback finishes a killed one; the alias
names a version all the while. A run that finds nothing new does not promote a version that was
taken back; `rolecall rollback --to` can name it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tasks.io.section import load
from tasks.io.tracking import masked, registry, tracking_uri
from tasks.release.gate.disputed import waiting_version
from tasks.release.model_package.run_files import RegisterParams
from tasks.release.registry.locks import champion_lock
from tasks.release.registry.register import CARRIED_OUT, CHALLENGER, CHAMPION

if TYPE_CHECKING:
    from mlflow.entities.model_registry import ModelVersion

BACK, RESTORED = "rolled_back", "restored"
NONE = "none"  # instead of a champion that was deleted


def listing(root: Path) -> str:
    """Write the address, the versions, newest first, with their decisions, and how to load one."""
    name = load(RegisterParams, root / "params.yaml").name
    with registry(root) as client:
        numbers = [int(found.version) for found in client.search_model_versions(f"name = '{name}'")]
        aliases = client.get_registered_model(name).aliases if numbers else {}
        waiting = waiting_version(root)
        newest_first = map(str, sorted(numbers, reverse=True))
        rows = [_row(client.get_model_version(name, number), waiting) for number in newest_first]
    where = f"registry  {masked(tracking_uri(root))}"
    if not rows:
        advice = "`rolecall retrain` with its --profile registers one"
        return f"{where}\nno version of {name} yet: {advice}"
    return "\n".join([where, "", *rows, "", _how_to_load(name, aliases)])


def _row(version: ModelVersion, waiting: str | None) -> str:
    created = datetime.fromtimestamp(version.creation_timestamp / 1000, UTC)
    alias = ", ".join(version.aliases) or "-"
    decision = version.tags.get("decision", "undecided")
    if str(version.version) == waiting:
        decision = "waits for verdicts"
    reason = version.tags.get("decision_reason", "")
    return (
        f"version {version.version}  {created:%Y-%m-%d %H:%M} UTC  {alias}  {decision}: {reason}"
        + _rollback_notes(version.tags)
    )


def _rollback_notes(tags: Mapping[str, str]) -> str:
    words = {BACK: "taken back, for version {to}", RESTORED: "champion again, for version {from}"}
    notes = ((text, json.loads(tags[tag])) for tag, text in words.items() if tag in tags)
    return "".join(
        f"; {text.format(**note)}, {note['at']}" + (f": {note['why']}" if note["why"] else "")
        for text, note in notes
    )


def _how_to_load(name: str, aliases: Mapping[str, str]) -> str:
    if CHAMPION in aliases:
        return f"load it as models:/{name}@{CHAMPION} (version {aliases[CHAMPION]})"
    instead = f"models:/{name}@{CHALLENGER}" if CHALLENGER in aliases else f"models:/{name}/VERSION"
    return (
        f"no champion yet, so that models:/{name}@{CHAMPION} cannot be loaded: load {instead}, or "
        f"give a version the alias: MlflowClient().set_registered_model_alias('{name}', "
        f"'{CHAMPION}', VERSION)"
    )


def rollback(root: Path, to: str | None = None, why: str = "") -> str:
    """Make an earlier version champion; return a sentence that says so.

    `to`: a version; None is the latest before this one that was champion and not taken back. A
    ValueError says that there is no champion and no version named, no such version, or none before.
    """
    name = load(RegisterParams, root / "params.yaml").name
    with champion_lock(root), registry(root) as client:
        listed = client.search_model_versions(f"name = '{name}'")
        numbers = [str(version.version) for version in listed]
        versions = {number: client.get_model_version(name, number) for number in numbers}
        aliases = client.get_registered_model(name).aliases if versions else {}
        champion = str(aliases.get(CHAMPION, NONE))
        if champion == NONE and not to:
            raise ValueError(
                f"{name} has no champion, so nothing can be rolled back: name the version that "
                "shall be it, --to VERSION; `rolecall models` lists them"
            )
        begun = champion != NONE and json.loads(versions[champion].tags.get(BACK, "{}")).get("to")
        target = to or begun or _before(versions, champion)
        if target not in versions or target == champion:
            existing = ", ".join(sorted(versions, key=int))
            raise ValueError(f"--to {target}: {name} has {existing}; champion is {champion}")
        note = {"at": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC", "why": why}
        back, restored = (json.dumps(end | note) for end in ({"to": target}, {"from": champion}))
        if champion != NONE:
            client.set_model_version_tag(name, champion, BACK, back)
        client.set_model_version_tag(name, target, RESTORED, restored)
        if BACK in versions[target].tags:
            client.delete_model_version_tag(name, target, BACK)
        client.set_registered_model_alias(name, CHAMPION, target)
    taken = "no champion before" if champion == NONE else f"version {champion} taken back"
    return f"{name}: {taken}, champion is version {target} again"


def _before(versions: Mapping[str, ModelVersion], champion: str) -> str:
    former = [
        number
        for number, version in versions.items()
        if int(number) < int(champion)
        and {CARRIED_OUT, RESTORED} & version.tags.keys()
        and BACK not in version.tags
    ]
    if not former:
        raise ValueError(
            f"no version before {champion} was champion: name one, --to VERSION; `rolecall models` "
            "lists them"
        )
    return max(former, key=int)
