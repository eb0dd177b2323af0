"""The flow `normalize`: answers raw titles of any number with a registered model.

One process does the work (`tasks/apps/bulk`). When it is started again it continues behind its last
finished part, so a retry of the flow costs only the rest.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from prefect import flow

from flows.champion import champion
from flows.failed_run import leave_page
from flows.results import publish
from flows.stages.target import run_module
from flows.workspaces.workspace import existing_root_of
from tasks.io.bulk_output import manifest_of, refused_of
from tasks.io.command import listed
from tasks.io.masked import revealed

BULK = "tasks.apps.bulk"
CACHE_DIR = ".prediction_cache"  # the default, in the root


@flow(name="normalize", on_failure=[leave_page], on_crashed=[leave_page])
def normalize(
    source: str,
    output: str,
    model: str = "",
    options: dict[str, Any] | None = None,
    cache_dir: str = "",
    profile: str = "",
) -> dict[str, Any]:
    """Answer every row of an input.

    Args:
        source: address of a CSV or Parquet file, or of a folder of them.
        output: file to be written (.parquet, .csv, .xlsx), or folder of Parquet parts.
        model: address in the registry; empty: the champion.
        options: of `tasks/apps/bulk/__main__.py` by name, such as `column` or `top_k`.
        cache_dir: folder of the prediction cache; empty: the clone's own.
        profile: a file of `profiles/`, whose model is used; empty: the current directory.
    """
    root = existing_root_of(profile)
    return normalize_in(root, source, output, model, options or {}, cache_dir)


def normalize_in(
    root: Path, source: str, output: str, model: str, options: dict[str, Any], cache_dir: str = ""
) -> dict[str, Any]:
    """Take the steps of the flow in `root`; called within a flow run."""
    arguments = [revealed(source), output, f"--model={model or champion(root)}"]
    arguments += [f"--cache-dir={cache_dir or root / CACHE_DIR}"]
    arguments += [
        f"--{name.replace('_', '-')}={one}"
        for name, value in options.items()
        for one in (value if isinstance(value, list) else [value])
    ]
    run_module("normalize", BULK, arguments, root)
    manifest: dict[str, Any] = json.loads(manifest_of(Path(output)).read_text(encoding="utf-8"))
    publish("normalize", facts(manifest, output), f"The answers in {output}")
    return manifest


def facts(manifest: dict[str, Any], output: str) -> dict[str, str]:
    """Describe a run by its manifest."""
    abstained = [f"{count:,} {reason}" for reason, count in manifest["abstained"].items()]
    outcome = {
        "rows": f"{manifest['rows']:,}, parts: {len(manifest['parts'])}",
        "answers": f"{manifest['answered']:,}",
        "without": ", ".join(abstained) or "none",
        "model": "{model}, {model_version}; taxonomy {taxonomy_version}".format(
            **manifest["result"]
        ),
    }
    if manifest["refused"]:
        outcome["refused"] = (
            f"{manifest['refused']:,} rows, with reasons: {refused_of(Path(output))}"
        )
    if files := manifest["result"].get("left_out"):
        outcome["left out"] = f"{listed(files, 5)}: without a column of titles"
    return {**outcome, "output": output}
