"""`rolecall feedback`: people's files taken in, and at work at once."""

from __future__ import annotations

from flows.commands.work import place, work


def feedback(profile: str | None) -> None:
    """Run the flow in the clone or in the profile's workspace, and print what came of it."""
    with place(profile) as root, work(root, "feedback"):
        from flows.feedback import feedback as flow
        from flows.results import as_facts

        print("\n" + as_facts(flow()), flush=True)
