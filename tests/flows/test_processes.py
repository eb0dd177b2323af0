"""A command's lines, its status, and that nothing of it survives."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from background import ROOT, is_gone, until

from flows.processes import stream

SLEEPER = """
import os, pathlib, subprocess, sys, time
if sys.argv[1:]:
    pathlib.Path("grandchild.txt").write_text(str(os.getpid()))
    print("asleep", flush=True)
    time.sleep(60)
subprocess.run([sys.executable, __file__, "grandchild"])
"""


def until_gone(file: Path) -> None:
    """Wait for the end of the process whose number a file holds."""
    pid = int(file.read_text())
    until(lambda: is_gone(pid), 10)


@pytest.mark.thorough
def test_lines_come_while_the_command_runs(tmp_path: Path) -> None:
    times: list[float] = []
    code = "import sys, time; print('a'); time.sleep(0.5); print('b', file=sys.stderr)"
    status, lines = stream(
        [sys.executable, "-c", code], tmp_path, lambda _: times.append(time.monotonic())
    )
    assert (status, lines) == (0, ["a", "b"])
    assert times[1] - times[0] > 0.4


@pytest.mark.thorough
def test_a_silent_command_gives_a_sign_of_life(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is shown, and is not a line of the command."""
    monkeypatch.setattr("flows.processes.SECONDS_OF_SILENCE", 0.3)
    printed: list[str] = []
    code = "import time; time.sleep(1.5); print('a')"
    assert stream([sys.executable, "-c", code], tmp_path, printed.append) == (0, ["a"])
    *signs, last = printed
    assert last == "a"
    assert len(signs) >= 2
    assert all(re.fullmatch(r"\.\.\. still running after \d+ s", sign) for sign in signs)


@pytest.mark.parametrize(
    ("code", "status"), [("raise SystemExit(7)", 7), ("os.kill(os.getpid(), 9)", 137)]
)
def test_status(tmp_path: Path, code: str, status: int) -> None:
    assert stream([sys.executable, "-c", "import os; " + code], tmp_path, print)[0] == status


def test_undecodable_output_and_input(tmp_path: Path) -> None:
    code = "import sys; sys.stdout.buffer.write(b'\\xff|' + sys.stdin.buffer.read() + b'|\\n')"
    assert stream([sys.executable, "-c", code], tmp_path, print) == (0, ["\ufffd||"])


STUBBORN = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"


@pytest.mark.parametrize(
    ("kind", "code"),
    [(KeyboardInterrupt, ""), (RuntimeError, ""), (RuntimeError, STUBBORN)],
    ids=["interrupt", "error", "a tree that ignores the interrupt is killed"],
)
def test_an_exception_ends_the_whole_tree(
    tmp_path: Path, kind: type[BaseException], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flows.processes.SECONDS_TO_END", 0.3 if code else 3.0)
    (tmp_path / "sleeper.py").write_text(code + SLEEPER)

    def interrupt(line: str) -> None:
        raise kind(line)

    with pytest.raises(kind, match="asleep"):
        stream([sys.executable, "sleeper.py"], tmp_path, interrupt)
    until_gone(tmp_path / "grandchild.txt")


def test_killing_the_caller_kills_the_tree(tmp_path: Path) -> None:
    """Kill the flow by `kill -9`: without flows/guard.py a stage would go on writing."""
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    code = f"""if True:
        import pathlib, sys
        from flows.processes import stream
        folder = pathlib.Path({str(tmp_path)!r})
        stream([sys.executable, "sleeper.py"], folder, lambda line: print(line, flush=True))
    """
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as caller:
        assert caller.stdout is not None
        assert caller.stdout.readline() == "asleep\n"
        os.kill(caller.pid, signal.SIGKILL)
    until_gone(tmp_path / "grandchild.txt")
