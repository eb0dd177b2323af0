"""`rolecall ask` in a process of its own: titles as words and as lines, JSON, quick imports."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
import tiny_registry
from mlflow_import import WARNINGS

pytestmark = [pytest.mark.slow, *WARNINGS]
SLOW_IMPORTS = {"mlflow", "torch", "prefect", "polars", "pandas", "dvc", "fastapi"}
IMPORTED = """
import atexit, sys
from pathlib import Path
names = lambda: Path("imported").write_text(" ".join({n.partition(".")[0] for n in sys.modules}))
atexit.register(names)
from flows.cli import app
app()
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tiny_registry.with_champion(tmp_path_factory.mktemp("root"), 1)
    (folder / "dvc.yaml").write_text("stages: {}\n")
    return folder


def run(
    root: Path, *command: str, lines: bytes = b"", output: int = subprocess.PIPE, **more: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=root,
        env=tiny_registry.command_environment(root) | more,
        input=lines,
        stdout=output,
        stderr=subprocess.PIPE,
    )


def test_titles_as_words(root: Path) -> None:
    done = run(root, "-m", "flows.cli", "ask", "Ward sister", "???", "--", "-x")
    assert done.returncode == 0, done.stderr
    first, second, third = done.stdout.decode().rstrip().split("\n\n")
    assert first.startswith("Ward sister\n  Nurse  uncalibrated\n  id         nurse\n")
    assert second.startswith("???\n  no answer: no letters\n") and third.startswith("-x\n")
    assert b"\x1b" not in done.stdout, "no terminal, no colour"


def test_a_terminal_gets_colour_unless_it_wants_none(root: Path) -> None:
    for more, coloured in ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False):
        ours, theirs = pty.openpty()
        try:
            words = ("-m", "flows.cli", "ask", "nurse", "--model=models:/rolecall/1")
            assert run(root, *words, output=theirs, **more).returncode == 0
            assert (b"\x1b[" in os.read(ours, 4096)) == coloured
        finally:
            os.close(ours)
            os.close(theirs)


def test_lines_of_standard_input_one_object_each(root: Path) -> None:
    lines = "\ufeffBaker\r\n\nnot \udcff UTF-8\nlast".encode("utf-8", "surrogateescape")
    done = run(root, "-m", "flows.cli", "ask", "--json", "--top-k=2", "--language=en", lines=lines)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["raw_title"] for one in answers] == ["Baker", "", "not \ufffd UTF-8", "last"]
    assert answers[0]["matched_language"] == "en"
    assert answers[0]["occupation_id"] == "baker" and len(answers[0]["alternatives"]) == 1
    assert answers[1]["reason"] == "empty" and answers[1]["meaning"]


def test_errors_are_short(root: Path) -> None:
    for options, said in (
        (["--top-k=0"], "error: top_k = 0; it must be from 1 to 1000"),
        (["--model=models:/rolecall/9"], "error: no model models:/rolecall/9 in "),
    ):
        done = run(root, "-m", "flows.cli", "ask", "nurse", *options)
        assert done.returncode == 1 and done.stdout == b""
        assert done.stderr.decode().startswith(said) and b"Traceback" not in done.stderr


def test_nothing_is_imported_that_takes_seconds(root: Path) -> None:
    done = run(root, "-c", IMPORTED, "ask", "nurse")
    assert done.returncode == 0, done.stderr
    imported = set((root / "imported").read_text().split())
    assert {"onnxruntime", "typer"} <= imported and not imported & SLOW_IMPORTS
