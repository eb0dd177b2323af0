"""What the commands of the flows share: a profile's workspace, errors in words, the exit status."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from flows.dvc_stages import StageFailed
from flows.workspace import WorkspaceError, run_in_workspace

INTERRUPTED = "interrupted: the same command goes on where it stopped"
PROFILE = "name of a file in profiles/: run in its own workspace"


def exit_status(
    here: Callable[[], None], module: str, profile: str | None, arguments: Sequence[str] = ()
) -> int:
    """Call `here`, or become `python -m module` with `arguments` in the profile's workspace.

    Returns:
        0, 1 for a failed stage or profile, 130 for Ctrl-C.
    """
    try:
        if profile:
            run_in_workspace(Path.cwd(), profile, module, arguments)
        else:
            here()
    except (StageFailed, WorkspaceError) as error:
        print(f"\n{error}", file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:
        print(f"\n{INTERRUPTED}", file=sys.stderr, flush=True)
        return 130
    return 0
