"""Runs one command and kills its whole process group as soon as the parent is gone.

A stage is a shell and a Python below DVC: when the flow dies without a chance to clean up
(kill -9, out of memory), they would go on writing, and DVC would call the files busy. The parent
holds the other end of this process's standard input; when it closes, by whatever death, the group
is killed. Only the standard library, because it starts once per stage.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading


def main(command: list[str]) -> int:
    """Run `command` without input; its exit status, or 128 + the signal that ended it."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    # Only after the start: a child inherits ignored signals, and DVC shall see its SIGINT.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    status = child.wait()
    return status if status >= 0 else 128 - status


def _die_with_parent() -> None:
    while os.read(0, 1):
        pass
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
