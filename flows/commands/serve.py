"""`rolecall serve`: the registered model for spreadsheets, until it is interrupted."""

from __future__ import annotations

import os
import sys

from flows.commands.work import place

SERVICE = "tasks.reconciliation"


def serve(profile: str | None, model: str, host: str, port: int, min_confidence: float) -> None:
    """Become the process that serves, in the clone or the profile's workspace."""
    with place(profile) as root:
        from flows.normalize import champion

        words = [f"--model={model or champion(root)}", f"--host={host}", f"--port={port}"]
        words.append(f"--min-confidence={min_confidence}")
        os.execv(sys.executable, [sys.executable, "-m", SERVICE, *words])
