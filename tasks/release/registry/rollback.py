"""An earlier champion again: `python -m tasks.release.registry.rollback [--to VERSION]`.

Tags of both versions say which one was taken back, when, why, and which took over. The tag of the
first is written before the alias moves, so that the next rollback finishes a killed one; the alias
names a version all the while. A run that finds nothing new does not promote a version that was
taken back; `--to` can name it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tasks.io.command import run
from tasks.io.section import load
from tasks.io.tracking import registry
from tasks.release.model_package.params import RegisterParams
from tasks.release.registry.champion_lock import champion_lock
from tasks.release.registry.register import CARRIED_OUT, CHAMPION

if TYPE_CHECKING:
    from mlflow.entities.model_registry import ModelVersion

BACK, RESTORED = "rolled_back", "restored"
NONE = "none"
"""In the place of a champion that was deleted."""


def rollback(root: Path, to: str | None = None, why: str = "") -> str:
    """Make an earlier version champion; return a sentence that says so.

    `to`: a version; None is the latest before this one that was champion and not taken back.

    Raises:
        ValueError: there is no champion and no version named, no such version, or none before.
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
        note = {"to": target, "at": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC", "why": why}
        if champion != NONE:
            client.set_model_version_tag(name, champion, BACK, json.dumps(note))
        note = {"from": champion, "at": note["at"], "why": why}
        client.set_model_version_tag(name, target, RESTORED, json.dumps(note))
        if BACK in versions[target].tags:
            client.delete_model_version_tag(name, target, BACK)
        client.set_registered_model_alias(name, CHAMPION, target)
    taken = "no champion before" if champion == NONE else f"version {champion} taken back"
    return f"{name}: {taken}, champion is version {target} again"


def rollback_notes(tags: Mapping[str, str]) -> str:
    """Describe a version's rollbacks; empty if there were none."""
    words = (
        (BACK, "taken back, for version {to}"),
        (RESTORED, "champion again, for version {from}"),
    )
    notes = [
        f"; {word.format(**note)}, {note['at']}" + (f": {note['why']}" if note["why"] else "")
        for tag, word in words
        if tag in tags and (note := json.loads(tags[tag]))
    ]
    return "".join(notes)


def _before(versions: dict[str, ModelVersion], champion: str) -> str:
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


def main() -> None:
    """Roll back the current directory's model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", help="version; default: the champion before this one")
    parser.add_argument("--reason", default="", help="kept with it")
    options = parser.parse_args()
    print(rollback(Path.cwd(), options.to, options.reason))


if __name__ == "__main__":
    run(main)
