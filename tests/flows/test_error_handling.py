"""The message of a command comes last, whatever libraries log while they close."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from flows.commands.error_handling import MAX_CHARACTERS, MAX_LINES

PROGRAM = """
import atexit, logging
from flows.commands.error_handling import error_handling

atexit.register(logging.warning, "still processing 1 item")
logging.warning("one item")
with error_handling():
    raise KeyboardInterrupt
"""

DROPPED = """
import os, signal, time, weakref
from flows.commands.error_handling import error_handling

class Thing: pass

def signalled(_):
    os.kill(os.getpid(), signal.{sign})
    time.sleep(0.01)  # the handler runs here

with error_handling():
    thing = Thing()
    kept = weakref.ref(thing, signalled)
    del thing
    time.sleep(60)
"""

LONG = """
from flows.commands.error_handling import error_handling
from flows.failure import Failure

names = ", ".join(map(str, range(200_000)))
with error_handling():
    raise Failure("\\n".join([f"too many: {names}; name one", *["line"] * 200_000]))
"""


def test_a_long_message_is_shortened() -> None:
    """200,000 names on a line, and as many lines; the fault and the remedy stay."""
    done = subprocess.run([sys.executable, "-c", LONG], capture_output=True, text=True)
    lines = done.stderr.strip().splitlines()
    assert len(lines) == MAX_LINES and lines[-1] == "... 199,992 more lines"
    assert lines[0].startswith("error: too many: 0, 1,") and lines[0].endswith("199999; name one")
    assert len(lines[0]) < 2 * MAX_CHARACTERS


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupt_that_a_callback_dropped_comes_again(sign: signal.Signals) -> None:
    """Python ignores what a weak reference's callback raises, so the command would stay."""
    command = [sys.executable, "-c", DROPPED.format(sign=sign.name)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50)
    assert done.returncode == 128 + sign
    assert done.stderr == "\ninterrupted: run the same command again to continue\n"


def test_the_message_stands_last() -> None:
    """Prefect's events worker warns at exit, now and then, that it has not sent all events."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 130
    assert done.stderr == (
        "WARNING:root:one item\n\ninterrupted: run the same command again to continue\n"
    )
