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


@pytest.mark.thorough
def test_lines_come_while_the_command_runs(tmp_path: Path) -> None:
    times: list[float] = []
    code = "import sys, time; print('a'); time.sleep(0.5); print('b', file=sys.stderr)"
    command = [sys.executable, "-c", code]
    done = stream(command, tmp_path, lambda _: times.append(time.monotonic()))
    assert done == (0, ["a", "b"]) and times[1] - times[0] > 0.4


@pytest.mark.thorough
def test_a_silent_command_gives_a_sign_of_life(tmp_path, monkeypatch) -> None:
    """It is shown, and is not a line of the command."""
    monkeypatch.setattr("flows.processes.SECONDS_OF_SILENCE", 0.3)
    printed: list[str] = []
    code = "import time; time.sleep(1.5); print('a')"
    assert stream([sys.executable, "-c", code], tmp_path, printed.append) == (0, ["a"])
    assert re.fullmatch(r"(\.\.\. still running after \d+ s\n){2,}a", "\n".join(printed))


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("sys.exit(7)", (7, [])),
        ("os.kill(os.getpid(), 9)", (137, [])),
        ("sys.stdout.buffer.write(b'\\xff|' + sys.stdin.buffer.read())", (0, ["\ufffd|"])),
    ],
)
def test_status_and_undecodable_output(tmp_path: Path, code: str, expected: object) -> None:
    assert stream([sys.executable, "-c", f"import os, sys; {code}"], tmp_path, print) == expected


STUBBORN = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"


@pytest.mark.parametrize(
    ("kind", "code"),
    [(KeyboardInterrupt, ""), (RuntimeError, ""), (RuntimeError, STUBBORN)],
    ids=["interrupt", "error", "a tree that ignores the interrupt is killed"],
)
def test_an_exception_ends_the_whole_tree(tmp_path, kind, code, monkeypatch) -> None:
    monkeypatch.setattr("flows.processes.SECONDS_TO_END", 0.3 if code else 3.0)
    (tmp_path / "sleeper.py").write_text(code + SLEEPER)

    def interrupt(line: str) -> None:
        raise kind(line)

    with pytest.raises(kind, match="asleep"):
        stream([sys.executable, "sleeper.py"], tmp_path, interrupt)
    until(lambda: is_gone(int((tmp_path / "grandchild.txt").read_text())), 10)


def test_killing_the_caller_kills_the_tree(tmp_path: Path) -> None:
    """Kill the flow by `kill -9`: without flows/guard.py a stage would go on writing."""
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    code = f"""if True:
        import pathlib, sys
        from flows.processes import stream
        folder = pathlib.Path({str(tmp_path)!r})
        stream([sys.executable, "sleeper.py"], folder, lambda line: print(line, flush=True))
    """
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as caller:
        assert caller.stdout is not None
        assert caller.stdout.readline() == "asleep\n"
        os.kill(caller.pid, signal.SIGKILL)
    until(lambda: is_gone(int((tmp_path / "grandchild.txt").read_text())), 10)
