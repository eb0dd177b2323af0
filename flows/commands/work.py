"""The commands that run a flow: look first, then bring up a server, run, and print the outcome."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

from flows.commands.ending import ending, logged
from flows.commands.place import clone
from flows.stages.check import check_params
from flows.stages.nothing_to_do import say_so
from flows.workspaces.workspace import prepare

LOGS = Path("logs")


def retrain(profile: str | None, *, serve: bool) -> None:
    """Run the flow `retrain` once, or on its schedule until interrupted."""
    if serve:
        with ending(), _server():
            from flows.schedule import serve_weekly

            serve_weekly(clone(), profile)
        return
    with place(profile) as root:
        if say_so(root):
            return
        with work(root, "retrain"):
            from flows.retrain import retrain as flow
            from flows.summary import as_text

            print("\n" + as_text(flow()), flush=True)


def reproduce(profile: str | None) -> None:
    """Run the flow `reproduce`."""
    with place(profile) as root:
        from flows.reproduce import as_text, standing
        from flows.reproduce import reproduce as flow

        done = standing(root)
        if done is None:
            with work(root, "reproduce"):
                done = flow()
        print("\n" + as_text(done), flush=True)


@contextmanager
def place(profile: str | None) -> Iterator[Path]:
    """Change to the clone, or to the profile's workspace, which is made or refreshed."""
    with ending():
        root = clone()
        root = prepare(root, profile) if profile else root
        os.chdir(root)
        yield root


@contextmanager
def work(root: Path, command: str) -> Iterator[None]:
    """Check the parameters, then let the block run flows, its lines kept in a file."""
    check_params(root, partial(print, flush=True))
    log = root / LOGS / f"{command}.log"
    with ending(log), logged(log), _server():
        yield


def _server() -> AbstractContextManager[None]:
    """Return `flows.processes.server.server`, whose import takes seconds."""
    from flows.processes.server import server

    return server()
