"""What was decided about the version of this run, for the report: `data/gate/decision.json`.

Out: `name, version, registered_at` (ISO, UTC, the registry's), `promoted, reason` (as they stand
now), `opponent, table_markdown, figures` (of each test), `changed_predictions` (`test, raw_title,
occupation_label, before, after, change, rows`): the gate's queries whose first answer became right
or wrong, and `impact` (`tasks/release/gate/impact.py`), null without a bulk run. No stage writes or
reads it, as it follows from a registry; it is made anew from the version whenever that is asked
for, changed_predictions and affected titles from an artifact of the version's run.
"""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks.io.frames import write_json

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities.model_registry import ModelVersion

FILE = Path("data/gate/decision.json")
ARTIFACT = "decision.json"


def write_decision(
    client: MlflowClient, root: Path, version: ModelVersion, promoted: bool, reason: str
) -> None:
    """Write the file below `root`, whole or not at all."""
    registered = datetime.fromtimestamp(version.creation_timestamp / 1000, UTC)
    decision = {
        "name": version.name,
        "version": str(version.version),
        "registered_at": registered.isoformat(timespec="seconds"),
        "promoted": promoted,
        "reason": reason,
        **_shown(client, version),
    }
    write_json(decision, root / FILE)


def _shown(client: MlflowClient, version: ModelVersion) -> dict[str, Any]:
    """Read what the gate left beside the version's run, or as much of it as the tags hold."""
    if any(file.path == ARTIFACT for file in client.list_artifacts(version.run_id)):
        with tempfile.TemporaryDirectory() as folder:
            file = client.download_artifacts(version.run_id, ARTIFACT, folder)
            shown: dict[str, Any] = json.loads(Path(file).read_text(encoding="utf-8"))
        return shown
    return {
        "opponent": "",
        "table_markdown": version.tags.get("decision_table", ""),
        "figures": json.loads(version.tags.get("decision_figures", "[]")),
        "changed_predictions": [],
        "impact": None,
    }
