"""Answers that all parts of the service give: JSON, and refusals with status and message."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import Response

FAULTS = 3  # faults of a body that an answer names


class BadRequest(ValueError):
    """A request that cannot be answered, with the status of the answer."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


def as_json(value: object, status: int = 200) -> Response:
    """Answer with plain values."""
    # in ASCII: a lone surrogate that a client sent has no UTF-8
    return Response(json.dumps(value, allow_nan=False), status, media_type="application/json")


def refusal(message: str, status: int) -> Response:
    """Say what is wrong with a request."""
    return as_json({"status": "error", "message": message}, status)


def faults_of(errors: Sequence[Mapping[str, Any]], *above: str) -> str:
    """Name the first of pydantic's errors by their positions, which lie in `above`."""
    return "; ".join(
        f"{'.'.join(map(str, [*above, *error['loc']]))}: {error['msg']}"
        for error in errors[:FAULTS]
    )
