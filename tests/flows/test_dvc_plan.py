"""DVC's stages in its order, and the files that DVC must not open."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from background import ROOT, ran, rolecall, visited
from dvc.ignore import DvcIgnorePatterns
from hypothesis import example, given
from hypothesis import strategies as st

from flows.dvc_plan import HEAD, IGNORED, keep_out_special_files, pattern, plan_and_skipped, reasons
from flows.errors import Failure
from flows.stages import repro

NAMES = st.text(st.characters(exclude_characters="/\0", codec="utf-8"), min_size=1, max_size=9)
Run = Callable[..., str]
Dvc = tuple[str, ...]
READS = """
  feedback:
    cmd: ls feedback > feedback.txt
    deps: [feedback]
    outs: [feedback.txt]
"""


@pytest.mark.thorough
def test_the_order_of_a_diamond(tmp_path: Path, run_in: Run, dvc: Dvc) -> None:
    """An imported file is a stage, too; DVC visits it at any time before its reader."""
    edges = {"a": "m.out, z.out", "m": "q.out", "z": "outside.txt, q.out", "q": ""}
    toy_pipeline(tmp_path, edges, idle=0)
    (tmp_path / "source.csv").write_text("here")
    run_in(tmp_path, *dvc, "init", "--quiet", "--no-scm")
    run_in(tmp_path, *dvc, "import-url", "--quiet", "source.csv", "outside.txt")
    plan = plan_and_skipped(tmp_path, "a")[0]
    assert plan.index("outside.txt.dvc") < plan.index("z")
    printed = visited(run_in(tmp_path, *dvc, "repro", "a"))
    assert [s for s in plan if s in "amzq"] == [s for s in printed if s in "amzq"]
    assert set(plan) == set(printed) == {"a", "m", "z", "q", "outside.txt.dvc"}


@pytest.mark.thorough
def test_the_order_of_a_small_part_is_that_of_the_file(tmp_path, run_in: Run, dvc: Dvc) -> None:
    """Plan five of thirteen stages: DVC's own plan walks a set here, this one the file."""
    toy_pipeline(tmp_path, {"c": "e.out, a.out", "b": "", "e": "", "a": "b.out", "z": "c.out"})
    run_in(tmp_path, *dvc, "init", "--quiet", "--no-scm")
    assert plan_and_skipped(tmp_path, "z")[0] == ["e", "b", "a", "c", "z"]
    assert plan_and_skipped(tmp_path, "a")[0] == ["b", "a"]


@pytest.mark.slow
def test_the_plan_does_not_depend_on_the_hash_seed(tmp_path: Path, run_in: Run, dvc: Dvc) -> None:
    """Plan in fresh processes, a small part of a pipeline and the targets of this one."""
    toy_pipeline(tmp_path, dict.fromkeys("cbea", "") | {"z": "c.out, b.out, e.out, a.out"})
    run_in(tmp_path, *dvc, "init", "--quiet", "--no-scm")
    targets = [(str(tmp_path), "z")] + [(str(ROOT), target) for target in ("report", "table3")]
    code = (
        "from pathlib import Path; from flows.dvc_plan import plan_and_skipped; "
        f"print([plan_and_skipped(Path(root), target)[0] for root, target in {targets}])"
    )
    plans = set()
    for seed in "012":
        done = ran(ROOT, sys.executable, "-c", code, PYTHONHASHSEED=seed)
        assert done.returncode == 0, done.stderr
        plans.add(done.stdout)
    assert len(plans) == 1
    assert plans.pop().startswith("[['c', 'b', 'e', 'a', 'z'], ['ingest', ")


def toy_pipeline(folder: Path, edges: dict[str, str], idle: int = 8) -> None:
    """Write `dvc.yaml` with these stages, each with its deps, behind some that nobody needs."""
    stages = {f"idle{number}": "" for number in range(idle)} | edges
    stage = "  {}: {{cmd: 'touch {}.out', deps: [{}], outs: [{}.out]}}\n"
    text = "".join(stage.format(k, k, v, k) for k, v in stages.items())
    (folder / "dvc.yaml").write_text("stages:\n" + text)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    params = "mix: a\nfeedback: {folder: feedback}\ningest: {folder: data/external}\n"
    (tmp_path / "params.yaml").write_text(params)
    (tmp_path / "feedback").mkdir()
    (tmp_path / "data/external").mkdir(parents=True)
    (tmp_path / "feedback/good.csv").write_text("raw_title\n")
    return tmp_path


def test_people_s_files_are_named_and_hidden_from_dvc(root: Path) -> None:
    (root / "data/external/cached.csv").symlink_to("/etc/passwd")  # by DVC, which is fine
    folder = root / "feedback"
    (folder / "a b.csv").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe.csv")
    assert keep_out_special_files(root) == [
        f"warning: {folder}/a b.csv is a link that leads out of {folder}: not read",
        f"warning: {folder}/pipe.csv is a pipe: not read",
    ]
    assert (folder / IGNORED).read_text() == f"{HEAD}/a[ ]b.csv\n/pipe.csv\n"
    for name in ("a b.csv", "pipe.csv"):
        (folder / name).unlink()
    assert keep_out_special_files(root) == []
    assert not (folder / IGNORED).exists()


def test_the_list_of_the_clone_is_none_of_ours(root: Path) -> None:
    (root / "params.yaml").write_text("feedback: {folder: .}\n")
    (root / IGNORED).write_text("__pycache__/\n")
    os.mkfifo(root / "pipe")
    with pytest.raises(Failure, match="pipe is a pipe"):
        keep_out_special_files(root)
    assert (root / IGNORED).read_text() == "__pycache__/\n"


def test_among_data_they_are_refused_up_to_ten(root: Path) -> None:
    for number in range(13):
        os.mkfifo(root / f"data/external/{number:02}")
    with pytest.raises(Failure) as error:
        keep_out_special_files(root)
    lines = str(error.value).splitlines()
    assert lines[0] == f"{root}/data/external/00 is a pipe"
    assert lines[-2:] == ["and 3 more", "take them out, or put the file itself there"]
    assert len(lines) == 12


@given(NAMES, NAMES)
@example("a b ", "a_b ")
@example("![a-z]*?.csv\\", "!b.csv")
@example("#1", "2")
def test_a_line_means_its_name_alone(name: str, other: str) -> None:
    line = f"/{pattern(name)}".strip()  # DVC strips what it reads
    ignored = DvcIgnorePatterns([line], "/clone/feedback", "/")
    assert ignored.matches("/clone/feedback", name)
    if name.isprintable():
        assert ignored.matches("/clone/feedback", other) == (name == other)


@pytest.mark.slow
def test_dvc_reads_the_others(toy: Path, run_in: Callable[..., str], dvc: tuple[str, ...]) -> None:
    """Also a bare `dvc repro` later on, for which the stage is up to date."""
    with (toy / "dvc.yaml").open("a") as pipeline, (toy / "params.yaml").open("a") as params:
        pipeline.write(READS)
        params.write("\nfeedback: {folder: feedback}\n")
    (toy / "feedback").mkdir()
    (toy / "feedback/good.csv").write_text("raw_title\n")
    os.mkfifo(toy / "feedback/pipe.csv")
    (toy / "feedback/zero.csv").symlink_to("/dev/zero")
    with repro(toy, ["feedback"]) as stages:
        lines = [line for _, output in stages for line in output]
    assert lines[0].endswith("pipe.csv is a pipe: not read")
    assert (toy / "feedback.txt").read_text() == "good.csv\npipe.csv\nzero.csv\n"
    assert plan_and_skipped(toy, "feedback") == (["feedback"], ["feedback"])
    assert reasons(toy, "feedback") == {"feedback": []}
    assert "didn't change" in run_in(toy, *dvc, "repro", "--single-item", "feedback")


@pytest.mark.slow
def test_no_command_hangs(toy: Path) -> None:
    """A pipe in the folder that the toy's first stage depends on."""
    os.mkfifo(toy / "data/sample/pipe.csv")
    for look in (plan_and_skipped, reasons):
        with pytest.raises(Failure, match=r"pipe\.csv is a pipe"):
            look(toy, "report")
    with pytest.raises(Failure, match=r"pipe\.csv is a pipe"), repro(toy, ["ingest"]):
        pass
    (toy / "data/simulate_feedback").mkdir()
    (toy / "data/simulate_feedback/feedback.csv").touch()  # a model has been trained
    done = rolecall(toy, "apply-feedback")
    assert (done.returncode, done.stderr.count("pipe.csv is a pipe")) == (1, 1)
