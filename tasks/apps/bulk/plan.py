"""The plan of a bulk run: one with the plan of an earlier run completes its output, or finds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.normalizer.predict_params import PARAMS
from tasks.apps.bulk.source import ROWS, TitleSource
from tasks.io.hashes import text_hash

VERSIONS = ("model_version", "taxonomy_version")
"""The parts of a plan that a model tells once it is loaded."""


def plan_of(source: TitleSource, address: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plan of a run, but for `model`, the address of what answers, and its `VERSIONS`.

    `address`: of the input; `options`: those of `rolecall normalize` by name, absent or None if not
    given.
    """
    return {
        "params": {name: options[name] for name in PARAMS if options.get(name) is not None},
        "column": source.column,
        **source.settings,
        "prefix": options.get("prefix", ""),
        "part_rows": ROWS,
        "input": text_hash(address),
    }
