"""The gate between challenger and champion: `python -m tasks.release.registry.promote [--version N]`.

The decision and its figures become tags of the version, and with the answers that changed an
artifact of its run; a decided version keeps its decision. On promotion the alias `champion` moves
to it and `challenger` is taken away; a version that was refused stays `challenger` until the next
one comes. What was decided stands in `data/gate/decision.json` afterwards, for the report.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tasks.io.command import run
from tasks.io.tracking import registry
from tasks.release.gate.decision_file import ARTIFACT, write_decision
from tasks.release.gate.run_gate import GateRun, run_gate
from tasks.release.model_package.folder import RunFiles
from tasks.release.registry.champion_lock import champion_lock
from tasks.release.registry.register import (
    CARRIED_OUT,
    CHALLENGER,
    CHAMPION,
    RegisteredVersion,
    alias_of,
    find_version,
)

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities.model_registry import ModelVersion


@dataclass(frozen=True)
class Promotion:
    """The gate's answer about one version.

    Attributes:
        promoted: whether the version is champion now.
        reason: in a sentence.
        table_markdown: the figures that it rests on; empty if nothing was compared.
    """

    promoted: bool
    reason: str
    table_markdown: str


def promote(root: Path, version: object) -> Promotion:
    """Judge `version` of the model named in `root`'s parameters, once; move the alias if it won.

    Whoever comes meanwhile waits, and is judged beside the champion that there is then.

    Raises:
        ValueError: as `run_gate`.
    """
    sources = RunFiles.below(root)
    name = sources.register.name
    with champion_lock(root), registry(root) as client:
        challenger = client.get_model_version(name, str(version))
        champion = _champion(client, name)
        if "decision" not in challenger.tags:
            if champion is not None and str(champion.version) == str(challenger.version):
                by_hand = Promotion(True, "made champion by hand, without a decision", "")
                return _kept(client, root, challenger, by_hand)
            _record(client, challenger, run_gate(root, sources, challenger, champion))
        return _carry_out(client, root, name, str(version))


def standing(root: Path) -> tuple[RegisteredVersion, Promotion] | None:
    """Return the version of the files below `root` and its decision, if both are there already."""
    sources = RunFiles.below(root)
    name, artefact_hash = sources.register.name, sources.artefact_hash()
    with registry(root) as client:
        known = find_version(client, name, artefact_hash)
        if known is None or "decision" not in known.tags:
            return None
        number = str(known.version)
        decision = _carry_out(client, root, name, number)
        alias = alias_of(client, name, number)
        return RegisteredVersion(name, number, alias, True), decision


def _champion(client: MlflowClient, name: str) -> ModelVersion | None:
    """Return the version that is champion, or None."""
    number = client.get_registered_model(name).aliases.get(CHAMPION)
    return None if number is None else client.get_model_version(name, number)


def _record(client: MlflowClient, version: ModelVersion, judged: GateRun) -> None:
    """Write the decision, the tag `decision` last: with it the decision stands."""
    client.log_dict(version.run_id, judged.shown(), ARTIFACT)
    verdict = judged.verdict
    tags = {
        "decision_reason": verdict.reason,
        "decision_table": judged.page,
        "decision_figures": json.dumps([asdict(figures) for figures in verdict.figures]),
        "decision": "promoted" if verdict.promoted else "not promoted",
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
        reason = f"was promoted ({reason}); champion is {now} now"
    decision = Promotion(is_champion, reason, version.tags["decision_table"])
    return _kept(client, root, version, decision)


def _kept(
    client: MlflowClient, root: Path, version: ModelVersion, decision: Promotion
) -> Promotion:
    """Return the decision, once it is written for the report."""
    write_decision(client, root, version, decision.promoted, decision.reason)
    return decision


def main() -> None:
    """Judge the challenger of the current directory's model, or the version asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", help="default: the version that is challenger")
    parser.add_argument("--standing", action="store_true", help="judge nothing, say what stands")
    parser.add_argument("--json", action="store_true", help="the outcome as the last line, JSON")
    options, root = parser.parse_args(), Path.cwd()
    if options.standing:
        stands = standing(root)
        print(
            json.dumps(stands and {"registered": asdict(stands[0]), "decision": asdict(stands[1])})
        )
        return
    name = RunFiles.below(root).register.name
    version = options.version or _challenger(root, name)
    decision = promote(root, version)
    word = "champion" if decision.promoted else "not promoted"
    print(f"{name} version {version} {word}: {decision.reason}\n\n{decision.table_markdown}")
    if options.json:
        print(json.dumps(asdict(decision)))


def _challenger(root: Path, name: str) -> str:
    with registry(root) as client:
        version = client.get_registered_model(name).aliases.get(CHALLENGER)
    if version is None:
        raise ValueError(f"{name} has no challenger; register one, or name it with --version")
    return str(version)


if __name__ == "__main__":
    run(main)
