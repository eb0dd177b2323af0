"""A stranger types the README and guides: each line of their blocks, in order, in one fresh clone.

The default is the sample here (ROLECALL_PROFILE, in `clones.py`), and networks are small
(`retrained`, whose printout is that of the first line, and `shortened` profiles): the test shows
that each command ends as promised. A line that stands in no row of `ENDINGS` fails. Those of `LONG`
take a quarter of an hour, for published data and all mixes; STRANGER=whole runs them too.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from background import free_port, running, until
from clones import ROOT, Clone

pytestmark = pytest.mark.slow
DATA = ROOT.parent / "shared" / "data"
SECONDS = 180  # for a command that stays to start
PAGES = (
    "README.md",
    *(f"docs/{name}.md" for name in ("guides/bulk", "guides/experiments", "quickstart")),
    *(f"docs/guides/{name}.md" for name in ("scheduling", "feedback", "own_taxonomy")),
    "docs/guides/published_benchmarks.md",
)
FENCES = re.compile(r"^```([a-z]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
LOADED = 'import mlflow, pandas\n\nmodel = mlflow.pyfunc.load_model("models:/rolecall@champion")\n'
ENDINGS = {  # what a line that begins like this prints, less that which no command answers for
    "make retrain PROFILE=sample": r"\nto do +nothing\n",
    "make retrain": r"\nmodel   rolecall version 1, champion\n(.*\n)*data    pushed",
    f"{LOADED}model": r"\n0 .*(.*\n)+.*\[1 rows x 25 columns\]",
    f"{LOADED}titles": r"\n1 .*(.*\n)+.*\[2 rows x 26 columns\]",
    "rolecall reproduce --profile paper": r"\n\| corrections \(4c\) +\|(.*\n)+data    pushed",
    "rolecall reproduce --profile similarity": r"sick r .*(.*\n)+data    pushed",
    "rolecall reproduce": r"\n\| corrections \(4c\) +\|(.*\n)+data    pushed",
    "rolecall status": r"clone: 21 of 21 stages are up to date\nnothing to train",
    "rolecall models": r"\nversion 1 .*(.*\n)+load it as models:/rolecall@champion",
    "dvc status": r"table3|up to date",
    "dvc repro": r"Data and pipelines are up to date\.",
    "dvc metrics diff": r"\ndata/report/metrics.json +annotations ",
    "dvc plots show": r"file://.*/index\.html\n$",
    "dvc exp run --temp": (
        r"(?s)'train_feedback@corrections-1' .*Running stage 'calibrate@corrections-1'.*Ran exp"
    ),
    "dvc exp show": r"\| Experiment .*\| annotations(.*\n)+.*\| 0\.5 ",
    "dvc push": r"^Everything is up to date\.\n$",  # the flow has pushed
    "dvc pull": r"files? (fetched|added)",
    "export": r"^$",
    "rolecall schedule": r"\nretrain/monthly +(.*\n)+to end ",
    "prefect block ls": r"ID|No blocks|block",
    "prefect deployment run": r"Flow run finished successfully",
    "rolecall init mine": r"20 occupations, 107 titles(.*\n)+.*rolecall retrain --profile mine",
    "rolecall benchmark": r"1,779 queries, 19,135 corpus elements(.*\n)+.*model",
}
STAYING = "rolecall schedule"
LOOKS = ("dvc exp", "dvc metrics", "dvc plots", "dvc push", "dvc status", "rolecall status")
"""They leave the files of the stages alone."""
LONG = ("rolecall reproduce", "dvc repro table3", "rolecall bench")
HERE = "tests/end_to_end"
LEFT_OUT = {
    "make test": "this is part of it",
    "source": "the shell of the test has this environment already",
    "rolecall notify": "it needs a block of the user's: tests/flows/test_runs.py",
    "rolecall rollback": f"{HERE}/test_whole_loop.py types it",
    "rolecall apply-feedback": f"{HERE}/test_whole_loop.py types it",
    "rolecall review": f"{HERE}/test_whole_loop.py types it of one run and of two",
    "rolecall init mine --taxonomy titles.csv --column": "the example has no such column",
    "rolecall retrain --profile mine": f"{HERE}/test_own_taxonomy.py types it",
    "rolecall normalize s3://": "no store of objects is here",
    "rolecall normalize raw.csv": f"{HERE}/test_own_taxonomy.py types it",
    "rolecall normalize data/sample/inputs.csv answers.csv": (
        f"{HERE}/test_own_taxonomy.py types it of another file"
    ),
    "rolecall normalize": f"{HERE}/test_whole_loop.py types it",
}


def lines() -> list[str]:
    """List the input of all blocks, once each: Python blocks whole, others line by line."""
    typed: dict[str, None] = {}
    for page in PAGES:
        for language, block in FENCES.findall((ROOT / page).read_text(encoding="utf-8")):
            if language == "python":
                typed[block] = None
            elif not language:
                lines = (re.sub(r"  +#.*", "", line).rstrip() for line in block.splitlines())
                typed.update(dict.fromkeys(filter(None, lines)))
    return list(typed)


class Shell:
    """A working copy, and the variables that its user has set; what runs behind ends with it."""

    def __init__(self, clone: Clone, stack: ExitStack) -> None:
        self.root, self.files, self._stack, self._port = clone.root, clone.files, stack, free_port()
        self.variables = clone.environment(ROLECALL_DATA=str(DATA))

    def type(self, line: str) -> str:
        """Return what is printed by a line, which must succeed; `STAYING` goes on."""
        line = line.replace("127.0.0.1:4200", f"127.0.0.1:{self._port}")
        if line == STAYING:
            command = [*line.split(), f"--port={self._port}"]
            log = self.root.with_name("schedule.log")
            self._stack.enter_context(running(command, self.root, self.variables, log))
            return printed(log, "to end")
        exports = line.startswith("export ")
        command = ["bash", "-c", f"{line}\nenv -0" if exports else line]
        pipes: Any = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "text": True}
        own: Any = {"cwd": self.root, "env": self.variables, **pipes}
        done = subprocess.run(command, stderr=subprocess.STDOUT, **own)
        assert done.returncode == 0, f"{line}\n{done.stdout}"
        if exports:
            self.variables = dict(v.split("=", 1) for v in done.stdout.split("\0") if v)
        return "" if exports else done.stdout


@pytest.fixture(scope="module")
def shell(
    retrained: tuple[Clone, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shell]:
    """A clone after `make retrain`, with short profiles, and two files beside."""
    clone = retrained[0].copied(tmp_path_factory.mktemp("stranger"))
    for name in ("paper", "similarity"):
        shortened(clone.root / f"profiles/{name}.yaml")
    for name in ("titles.csv", "raw.csv"):
        shutil.copy(clone.root / "examples/own_taxonomy" / name, clone.root)
    clone.git("commit", "--quiet", "--message=short", "profiles")
    with ExitStack() as stack:
        yield Shell(clone, stack)


def shortened(file: Path) -> None:
    """Write a profile whose networks train a few steps, once."""
    text = file.read_text(encoding="utf-8")
    for value, short in {"max_steps": 20, "evaluate_every": 10, "positives_per_anchor": 1}.items():
        text = re.sub(rf"\b{value}: \d+", f"{value}: {short}", text)
    file.write_text(re.sub(r"\bseeds: \[1, 2, 3\]", "seeds: [1]", text), encoding="utf-8")


@pytest.mark.parametrize("line", lines())
def test_a_line_ends_as_promised(
    retrained: tuple[Clone, str], shell: Shell, line: str, tmp_path: Path
) -> None:
    why = [reason for start, reason in LEFT_OUT.items() if line.startswith(start)]
    if line.startswith(LONG) and os.environ.get("STRANGER") != "whole":
        why = ["STRANGER=whole runs it"]
    if why:
        pytest.skip(why[0])
    endings = [ending for start, ending in ENDINGS.items() if line.startswith(start)]
    assert endings, "say what this line prints"
    if line == "make retrain":
        output = retrained[1]
    elif line.startswith("import "):
        output = consumed(shell, line, tmp_path)
    else:
        if line.startswith("dvc pull"):
            shutil.rmtree(shell.root / ".dvc/cache/files")  # what stages have done stays known
            shutil.rmtree(shell.root / "data/evaluate")
        files = shell.files() if line.startswith(LOOKS) else {}
        output = shell.type(line)
        assert not files or shell.files() == files
    assert re.search(endings[0], output), output


def consumed(shell: Shell, block: str, folder: Path) -> str:
    """Type the lines into Python in another folder, the registry named as the README says."""
    shell.type("export MLFLOW_TRACKING_URI=$(rolecall models --address)")
    (folder / "block.py").write_text(block, encoding="utf-8")
    before, shell.root = shell.root, folder
    try:
        return shell.type("python -i < block.py")
    finally:
        shell.root = before


def printed(log: Path, last: str) -> str:
    """Return what a command has printed when a line of it begins with `last`."""
    until(lambda: re.search(rf"^{last}", log.read_text(encoding="utf-8"), re.MULTILINE), SECONDS)
    return log.read_text(encoding="utf-8")
