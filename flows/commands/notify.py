"""`rolecall notify`: a message to the owner whenever a run fails."""

from __future__ import annotations

from flows.commands.ending import ending


def notify(block: str) -> None:
    """Make or change the automation on the server that PREFECT_API_URL names."""
    with ending():
        from flows.notification import notify_by

        print(notify_by(block))
