"""The gate between challenger and champion: `python -m tasks.release.registry.promote`.

The decision and its figures become tags of the version, and with the answers that changed an
artifact of its run; a decided version keeps its decision. On promotion the alias `champion` moves
to it and `challenger` is removed; a refused version stays `challenger` until the next one comes.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks.io.command import run
from tasks.io.files import read_json, write_json
from tasks.io.tracking import registry
from tasks.release.gate.decision_page import DECISION
from tasks.release.gate.disputed import note_that_none_waits, waiting_version, write_waiting
from tasks.release.gate.figures import as_markdown
from tasks.release.gate.run_gate import NOTHING_COMPARED, run_gate
from tasks.release.model_package.run_files import RunFiles
from tasks.release.registry.locks import champion_lock
from tasks.release.registry.outcomes import Promotion
from tasks.release.registry.register import CARRIED_OUT, CHALLENGER, CHAMPION, CORRECTS

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities.model_registry import ModelVersion

    from tasks.release.gate.rule import GateDecision

ARTIFACT = "decision.json"


def promote(root: Path, version: object) -> Promotion:
    """Judge `version` of the model named in `root`'s parameters, once; move the alias if it won.

    Whoever comes meanwhile waits, and is judged beside the champion that there is then; ValueError
    as `run_gate`.
    """
    sources = RunFiles.below(root)
    name = sources.register.name
    with champion_lock(root), registry(root) as client:
        challenger = client.get_model_version(name, str(version))
        champion = _champion(client, name)
        if "decision" not in challenger.tags:
            if champion is not None and str(champion.version) == str(challenger.version):
                by_hand = Promotion(True, "made champion by hand, without a decision", "")
                return _written(client, root, challenger, by_hand)
            _record(client, challenger, *run_gate(root, sources, challenger, champion))
        return _carry_out(client, root, name, str(version))


def _champion(client: MlflowClient, name: str) -> ModelVersion | None:
    number = client.get_registered_model(name).aliases.get(CHAMPION)
    return None if number is None else client.get_model_version(name, number)


def _record(
    client: MlflowClient, version: ModelVersion, decision: GateDecision, values: dict[str, Any]
) -> None:
    """Write the decision, the tag `decision` last: with it the decision stands."""
    figures = asdict(decision)["figures"]
    values = {**values, "figures": figures, "undecided": decision.undecided}
    values["table_markdown"] = as_markdown(values)
    client.log_dict(version.run_id, values, ARTIFACT)
    tags = {
        "decision_reason": decision.reason,
        "decision_table": values["table_markdown"],
        "decision_figures": json.dumps(figures),
        "decision": "promoted" if decision.promoted else "not promoted",
    }
    for key, value in tags.items():
        client.set_model_version_tag(version.name, version.version, key, value)


def _carry_out(client: MlflowClient, root: Path, name: str, number: str) -> Promotion:
    """Move the aliases as decided, once, and give the decision as it stands now."""
    version = client.get_model_version(name, number)
    promoted, reason = version.tags["decision"] == "promoted", version.tags["decision_reason"]
    if promoted and CARRIED_OUT not in version.tags:
        client.set_registered_model_alias(name, CHAMPION, number)
        if CHALLENGER in version.aliases:
            client.delete_registered_model_alias(name, CHALLENGER)
        client.set_model_version_tag(name, number, CARRIED_OUT, "yes")
    champion = _champion(client, name)
    is_champion = champion is not None and str(champion.version) == number
    if promoted and not is_champion:
        now = "none" if champion is None else f"version {champion.version}"
        reason = (
            f"was promoted ({reason}); champion is {now} now, because the alias was moved since: "
            f"`rolecall rollback --to {number}` makes this one champion again"
        )
    decided = Promotion(is_champion, reason, version.tags["decision_table"])
    return _written(client, root, version, decided)


def _written(
    client: MlflowClient, root: Path, version: ModelVersion, decision: Promotion
) -> Promotion:
    """Write the decision about a version for its page, `data/gate/decision.json`; return it.

    Keys: `name, version, registered_at` (ISO, UTC, the registry's), `promoted, reason` (as they
    stand now), `figures` (of each test), `table_markdown`, `undecided`, and those that `run_gate`
    returns. The titles of an undecided decision stand beside it until it is decided or the next
    network is judged.
    """
    registered = datetime.fromtimestamp(version.creation_timestamp / 1000, UTC)
    number = str(version.version)
    values = {
        "name": version.name,
        "version": number,
        "registered_at": registered.isoformat(timespec="seconds"),
        "promoted": decision.promoted,
        "reason": decision.reason,
        **_gate_values(client, version),
    }
    write_json(values, root / DECISION)
    corrected = version.tags.get(CORRECTS)
    if corrected is None or waiting_version(root) in (corrected, number):
        if values["undecided"]:
            write_waiting(root, number, values["disputed"], corrected)
        else:
            note_that_none_waits(root)
    return decision


def _gate_values(client: MlflowClient, version: ModelVersion) -> dict[str, Any]:
    """Read what the gate found out; of a version without its artifact only what the tags say."""
    figures = json.loads(version.tags.get("decision_figures", "[]"))
    table = version.tags.get("decision_table", "")
    values = NOTHING_COMPARED | {"figures": figures, "table_markdown": table, "undecided": False}
    if any(file.path == ARTIFACT for file in client.list_artifacts(version.run_id)):
        with tempfile.TemporaryDirectory() as folder:
            values |= read_json(Path(client.download_artifacts(version.run_id, ARTIFACT, folder)))
    return values


def main() -> None:
    """Judge the challenger of the current directory's model, or the version asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", help="default: the version that is challenger")
    parser.add_argument("--json", action="store_true", help="the outcome as the last line, JSON")
    options, root = parser.parse_args(), Path.cwd()
    name = RunFiles.below(root).register.name
    version = options.version
    if version is None:
        with registry(root) as client:
            version = client.get_registered_model(name).aliases.get(CHALLENGER)
    if version is None:
        raise ValueError(f"{name} has no challenger; register one, or name it with --version")
    decision = promote(root, version)
    word = "champion" if decision.promoted else "not promoted"
    print(f"{name} version {version} {word}: {decision.reason}\n\n{decision.table_markdown}")
    if options.json:
        print(json.dumps(asdict(decision)))


if __name__ == "__main__":
    run(main)
