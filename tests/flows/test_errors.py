"""The message that ends a command: its own words, shortened, last, whatever libraries log."""

import logging
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from background import ROOT, ran

from flows.environment import MARKS
from flows.errors import MAX_CHARACTERS, MAX_LINES, command_failed, error_message, log_to_file

COMMAND = "python -m tasks.pipeline.split"
DVC = f"ERROR: failed to reproduce 'split': failed to run: {COMMAND}, exited with 1"
STAGE = ["Running stage 'split':", f"> {COMMAND}", "error: no title is left"]
STAGE += ["lower split.valid_min_titles", "(ValueError in tasks/pipeline/split.py, line 7)", DVC]
TRACEBACK = ["Traceback (most recent call last):"]
TRACEBACK += ['  File "tasks/pipeline/split.py", line 1, in <module>']
PYTHON = [f"> {COMMAND}", *TRACEBACK, "    1 / 0", "ZeroDivisionError: division by zero", DVC]
LIBRARY = [
    *TRACEBACK,
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
atexit.register(logging.warning, "still processing 1 item")
logging.warning("one item")
with error_handling():
    raise KeyboardInterrupt
"""
DROPPED = """
import os, signal, time, weakref
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
names = ", ".join(map(str, range(200_000)))
with error_handling():
    raise Failure("\\n".join([f"too many: {names}; name one", *["line"] * 200_000]))
"""


def ended(code: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    code = f"from flows.errors import Failure, error_handling\n{code}"
    return ran(folder or ROOT, sys.executable, "-c", code)


def test_a_long_message_is_shortened() -> None:
    """200,000 names on a line, and as many lines; the fault and the remedy stay."""
    done = ended(LONG)
    lines = done.stderr.strip().splitlines()
    assert len(lines) == MAX_LINES and lines[-1] == "... 199,992 more lines"
    assert lines[0].startswith("error: too many: 0, 1,") and lines[0].endswith("199999; name one")
    assert len(lines[0]) < 2 * MAX_CHARACTERS


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_an_interrupt_that_a_callback_dropped_comes_again(sign: signal.Signals) -> None:
    """Python ignores what a weak reference's callback raises, so the command would stay."""
    done = ended(DROPPED.format(sign=sign.name))
    assert done.returncode == 128 + sign
    assert done.stderr == "interrupted: run the same command again to continue\n"


def test_the_message_stands_last() -> None:
    """Prefect's events worker warns at exit, now and then, that it has not sent all events."""
    done, said = ended(PROGRAM), "interrupted: run the same command again to continue"
    assert (done.returncode, done.stderr) == (130, f"WARNING:root:one item\n{said}\n")


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


@pytest.mark.parametrize(
    ("error", "said", "is_fault"),
    [
        ("OSError('no room')", "no room", False),
        ("ImportError('install s3fs')", "install s3fs", False),
        ("KeyError('at ftp://me:hunter2@host')", "KeyError: 'at ftp://***@host'", True),
    ],
)
def test_an_error_is_a_sentence_and_a_fault_leaves_its_traceback(
    error: str, said: str, is_fault: bool, tmp_path: Path
) -> None:
    """The log of the clone holds it; outside of a clone it is raised."""
    for mark in MARKS:
        (tmp_path / mark).touch()
    done, log = ended(f"with error_handling():\n    raise {error}", tmp_path), "logs/errors.log"
    message = f"\nerror: {said}\nfull log: {tmp_path / log}\n" if is_fault else f"error: {said}\n"
    assert (done.returncode, done.stderr) == (1, message)
    assert (tmp_path / log).exists() == is_fault
    text = (tmp_path / log).read_text() if is_fault else "Traceback"
    assert "Traceback" in text and "hunter2" not in text
