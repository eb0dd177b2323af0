"""The flow `normalize`: raw titles of any size through a registered model, and a page in Prefect.

The work is one process, `tasks/bulk`, which goes on behind its last finished part when it is asked
again: a retry of the flow costs no more than what was not done.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import yaml
from prefect import flow, task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE

from flows import results
from flows.failed_run import leave_page
from flows.stages.dvc_stages import said
from flows.workspaces.workspace import standing_root_of

MANIFEST, BULK = "manifest.json", "tasks.bulk"
KNOWN = ".known"


@flow(name="normalize", on_failure=[leave_page], on_crashed=[leave_page])
def normalize(
    source: str,
    output: str,
    model: str = "",
    options: dict[str, Any] | None = None,
    known: str = "",
    profile: str = "",
) -> dict[str, Any]:
    """Answer every row of an input.

    Args:
        source: address of a CSV or Parquet file, or of a folder of them.
        output: folder to be written.
        model: address in the registry; empty: the champion.
        options: of `tasks/bulk/__main__.py` by name, such as `column` or `top_k`.
        known: folder of answers known before; empty: `.known` of the clone.
        profile: a file of `profiles/`, whose model is meant; empty: the current directory.

    Returns:
        the manifest.

    Raises:
        StageFailed: with the last words of what went wrong.
    """
    root = standing_root_of(profile)
    return normalize_in(root, source, output, model, options or {}, known)


def normalize_in(
    root: Path, source: str, output: str, model: str, options: dict[str, Any], known: str
) -> dict[str, Any]:
    """Take the steps of the flow in `root`; called within a flow run."""
    words = [source, output, f"--model={model or champion(root)}"]
    words += [f"--known={known or root / KNOWN}"]
    words += [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    bulk(root, words)
    manifest: dict[str, Any] = json.loads((Path(output) / MANIFEST).read_text(encoding="utf-8"))
    create_markdown_artifact(
        key="normalize", markdown=as_markdown(manifest), description=f"What is in {output}"
    )
    return manifest


@task(name="bulk", task_run_name="normalize", cache_policy=NO_CACHE, persist_result=False)
def bulk(root: Path, words: list[str]) -> None:
    """Run the process in `root`."""
    said([sys.executable, "-m", BULK, *words], root, "normalize")


def champion(root: Path) -> str:
    """Return the address of the champion of `root`'s model."""
    params = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    return f"models:/{params['register']['name']}@champion"


def facts(manifest: dict[str, Any]) -> dict[str, str]:
    """Say what came of a run, from its manifest."""
    reasons = [f"{count:,} {reason}" for reason, count in manifest["abstained"].items()]
    told = {
        "rows": f"{manifest['rows']:,}, parts: {len(manifest['parts'])}",
        "answers": f"{manifest['answered']:,}",
        "without": ", ".join(reasons) or "none",
        "model": "{model}, {model_version}; taxonomy {taxonomy_version}".format(
            **manifest["result"]
        ),
    }
    if manifest["refused"]:
        told["refused"] = f"{manifest['refused']:,} rows: refused.parquet says why"
    return told


def as_markdown(manifest: dict[str, Any]) -> str:
    """Write it for Prefect's page."""
    return results.as_markdown(list(facts(manifest).items()), ("", "normalize"))
