"""The format of a model package, and the refusal of every other one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FORMAT = 14
"""Counts up whenever a package's files change in a way that older code cannot read."""


def check_format(settings: Mapping[str, Any], package: str) -> None:
    """Raise a ValueError if `settings`, a package's `settings.json`, have another format."""
    number = settings.get("format", "unknown")
    if number != FORMAT:
        age = "a later version: update rolecall"
        if not isinstance(number, int) or number < FORMAT:
            age = "an earlier version: run `rolecall retrain`"
        raise ValueError(f"{package} has format {number}, not {FORMAT}; trained by {age}")
