"""Versions and aliases of the directory's model: `python -m tasks.release.registry.listing`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tasks.io.command import run
from tasks.io.masked import masked
from tasks.io.section import load
from tasks.io.tracking import registry, tracking_uri
from tasks.release.gate.waiting import waiting_version
from tasks.release.model_package.params import RegisterParams
from tasks.release.registry.register import CHALLENGER, CHAMPION
from tasks.release.registry.rollback import rollback_notes

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities.model_registry import ModelVersion


def listing(root: Path) -> str:
    """Write the address, the versions, newest first, with their decisions, and how to load one."""
    name = load(RegisterParams, root / "params.yaml").name
    with registry(root) as client:
        versions = client.search_model_versions(f"name = '{name}'")
        versions.sort(key=lambda version: int(version.version), reverse=True)
        aliases = client.get_registered_model(name).aliases if versions else {}
        waiting = waiting_version(root)
        rows = [_row(client, version, waiting) for version in versions]
    where = f"registry  {masked(tracking_uri(root))}"
    if not versions:
        advice = "`rolecall retrain` with its --profile registers one"
        return f"{where}\nno version of {name} yet: {advice}"
    return "\n".join([where, "", *rows, "", _how_to_load(name, aliases)])


def _row(client: MlflowClient, version: ModelVersion, waiting: str | None) -> str:
    current = client.get_model_version(version.name, version.version)
    created = datetime.fromtimestamp(current.creation_timestamp / 1000, UTC)
    alias = ", ".join(current.aliases) or "-"
    decision = current.tags.get("decision", "undecided")
    if str(current.version) == waiting:
        decision = "waits for replies"
    reason = current.tags.get("decision_reason", "")
    return (
        f"version {current.version}  {created:%Y-%m-%d %H:%M} UTC  {alias}  {decision}: {reason}"
        + rollback_notes(current.tags)
    )


def _how_to_load(name: str, aliases: dict[str, str]) -> str:
    if CHAMPION in aliases:
        return f"load it as models:/{name}@{CHAMPION} (version {aliases[CHAMPION]})"
    instead = f"models:/{name}@{CHALLENGER}" if CHALLENGER in aliases else f"models:/{name}/VERSION"
    return (
        f"no champion yet, so that models:/{name}@{CHAMPION} cannot be loaded: load {instead}, or "
        f"give a version the alias: MlflowClient().set_registered_model_alias('{name}', "
        f"'{CHAMPION}', VERSION)"
    )


def main() -> None:
    """Print the versions."""
    print(listing(Path.cwd()))


if __name__ == "__main__":
    run(main)
