"""Runs one command in a process group of its own, and ends the group when told or left alone.

A stage is a shell and a Python below DVC: when the flow dies without a chance to clean up
(kill -9, out of memory), they would go on writing, and DVC would call the files busy. The parent
holds the other end of this process's standard input: when it closes, on purpose or by any death,
the group is interrupted, and killed after some seconds. This process waits for DVC's, so that no
entry of the process table is left which DVC takes for a running owner of its locks. Only the
standard library, because it starts once per stage.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress


def main(seconds: float, command: list[str]) -> int:
    """Run `command` without input; return its exit status, or 128 + the signal that ended it.

    Args:
        seconds: between interrupting the group (DVC then releases its locks) and killing it.
        command: the program and its arguments.
    """
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    threading.Thread(target=_end_with_parent, args=(child.pid, seconds), daemon=True).start()
    status = child.wait()
    _signal_group(child.pid, signal.SIGKILL)
    return status if status >= 0 else 128 - status


def _end_with_parent(group: int, seconds: float) -> None:
    while os.read(0, 1):
        pass
    _signal_group(group, signal.SIGINT)
    time.sleep(seconds)
    _signal_group(group, signal.SIGKILL)


def _signal_group(group: int, sign: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, sign)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2:]))
