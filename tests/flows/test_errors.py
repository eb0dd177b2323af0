"""The message that ends a command: its own words, shortened, last, whatever libraries log."""

import logging
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from flows.environment import MARKS
from flows.errors import (
    MAX_CHARACTERS,
    MAX_LINES,
    command_failed,
    error_message,
    log_to_file,
)

COMMAND = "python -m tasks.pipeline.split"
DVC = f"ERROR: failed to reproduce 'split': failed to run: {COMMAND}, exited with 1"
STAGE = [
    "Running stage 'split':",
    f"> {COMMAND}",
    "error: no title is left",
    "lower split.valid_min_titles",
    "(ValueError in tasks/pipeline/split.py, line 7)",
    DVC,
]
PYTHON = [
    f"> {COMMAND}",
    "Traceback (most recent call last):",
    '  File "tasks/pipeline/split.py", line 1, in <module>',
    "    1 / 0",
    "ZeroDivisionError: division by zero",
    DVC,
]


LIBRARY = [
    "Traceback (most recent call last):",
    '  File "tasks/pipeline/split.py", line 1, in <module>',
    "    read(",
    "    ~~~~^",
    "polars.exceptions.ComputeError: the file is damaged",
    "  at byte 7",
    "This error occurred in the following expression: x",
    DVC,
]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (STAGE, ["no title is left", "lower split.valid_min_titles"]),
        (PYTHON, ["ZeroDivisionError: division by zero"]),
        (["error: resumed after this", *PYTHON], ["ZeroDivisionError: division by zero"]),
        (LIBRARY, LIBRARY[4:7]),
        (["step 1", "an error: of rounding", DVC], []),
        ([], []),
    ],
)
def test_error_message(lines: list[str], message: list[str]) -> None:
    assert error_message(lines) == message


def test_without_a_message_the_last_lines_are_shown() -> None:
    lines = [*"abcdefg", "", DVC]
    assert str(command_failed("stage x", 3, lines)) == "stage x failed\nc\nd\ne\nf\ng"
    assert str(command_failed("stage x", 3, [DVC])) == "stage x failed\nexit status 3"
    missing = "failed to reproduce 'split': missing data 'source': data/ingest"
    failed = command_failed("stage x", 1, ["Verifying", f"ERROR: {missing}"])
    assert str(failed) == f"stage x failed\n{missing}"
    assert str(command_failed("", 1, STAGE)) == "no title is left\nlower split.valid_min_titles"


PROGRAM = """
import atexit, logging
from flows.errors import error_handling

atexit.register(logging.warning, "still processing 1 item")
logging.warning("one item")
with error_handling():
    raise KeyboardInterrupt
"""

DROPPED = """
import os, signal, time, weakref
from flows.errors import error_handling

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
from flows.errors import error_handling
from flows.errors import Failure

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


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_an_interrupt_that_a_callback_dropped_comes_again(sign: signal.Signals) -> None:
    """Python ignores what a weak reference's callback raises, so the command would stay."""
    command = [sys.executable, "-c", DROPPED.format(sign=sign.name)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50)
    assert done.returncode == 128 + sign
    assert done.stderr == "interrupted: run the same command again to continue\n"


def test_the_message_stands_last() -> None:
    """Prefect's events worker warns at exit, now and then, that it has not sent all events."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 130
    assert done.stderr == (
        "WARNING:root:one item\ninterrupted: run the same command again to continue\n"
    )


def test_no_log_holds_a_password(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    with log_to_file(log):
        try:
            raise OSError("no answer from https://me:hunter2@host/?sig=hunter2")
        except OSError:
            logging.getLogger("any").exception("at %s", "s3://key:hunter2@bucket")
    text = log.read_text()
    assert "s3://***@bucket" in text and "https://***@host/?***" in text
    assert "hunter2" not in text


ERRORS = {
    "OSError('no room')": ("error: no room", False),
    "ImportError('install s3fs')": ("error: install s3fs", False),
    "ZeroDivisionError('at https://me:hunter2@host')": (
        "error: ZeroDivisionError: at https://***@host",
        True,
    ),
}


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_is_a_sentence_and_a_fault_leaves_its_traceback(
    error: str, tmp_path: Path
) -> None:
    """The log of the clone holds it; outside of a clone it is raised."""
    code = f"from flows.errors import error_handling\nwith error_handling():\n    raise {error}"
    for mark in MARKS:
        (tmp_path / mark).touch()
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    said, is_fault = ERRORS[error]
    assert done.returncode == 1
    log = tmp_path / "logs/errors.log"
    assert done.stderr == (f"\n{said}\nfull log: {log}\n" if is_fault else f"{said}\n")
    assert log.exists() == is_fault
    assert not is_fault or ("Traceback" in log.read_text() and "hunter2" not in log.read_text())
