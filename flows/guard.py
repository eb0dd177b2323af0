"""Runs one command in its own process group, and ends the group when its parent ends.

If the flow is killed, a stage would go on writing. The parent holds the other end of this process's
standard input: when it closes, the group is interrupted, and killed some seconds later. This
process waits for DVC's, because DVC takes a zombie for a running owner of its locks.
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
    """Run `command`, with `seconds` for DVC to release its locks; return its exit status."""
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
