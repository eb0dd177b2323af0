"""The tidy files: schema, what is replaced, runs, rounding, refusals that leave the files alone."""

import re
from pathlib import Path

import pytest

from benchmarks.results import FOLDER, Row, Run, read_rows, read_runs, replace_rows, rounded
from benchmarks.study import studies

ROOT = Path(__file__).parents[2]
RUN = Run("abc1234", "2026-01-02", "AMD, 2 cores", "python -m benchmarks speed")
ROW = Row("rolecall", "training", "seconds", 1.5, 3, seed=1)


def systems(folder: Path, study: str = "speed") -> list[tuple[str, str, str]]:
    rows = read_rows(folder / f"{study}.csv")
    return [(row["dataset"], row["system"], row["value"]) for row in rows]


def test_schema_and_golden_bytes(tmp_path: Path) -> None:
    replace_rows("speed", "sample", [ROW._replace(low=1.25, high=1234.56)], RUN, tmp_path)
    assert (tmp_path / "speed.csv").read_text() == (
        "dataset,system,test,metric,value,low,high,n,seed,run\n"
        "sample,rolecall,training,seconds,1.500,1.250,1235,3,1,speed-1\n"
    )
    assert (tmp_path / "runs.csv").read_text() == (
        "run,study,commit,date,machine,command\n"
        'speed-1,speed,abc1234,2026-01-02,"AMD, 2 cores",python -m benchmarks speed\n'
    )


def test_rounding() -> None:
    numbers = (0.53721, 0.00004, 12.3456, 12345.6, 3.0, 0.0, -0.12344, 2.5e6 + 0.5)
    texts = "0.5372 0.0000 12.35 12346 3 0 -0.1234 2500000"
    assert " ".join(map(rounded, numbers)) == texts


def test_other_systems_data_sets_and_studies_are_kept(tmp_path: Path) -> None:
    several = [ROW, ROW._replace(test="encoding"), ROW._replace(system="onnx")]
    replace_rows("speed", "sample", several, RUN, tmp_path)
    first = (tmp_path / "speed.csv").read_bytes()
    replace_rows("speed", "sample", several[::-1], RUN, tmp_path)
    assert (tmp_path / "speed.csv").read_bytes() == first
    replace_rows("speed", "esco", [ROW], RUN, tmp_path)
    replace_rows("zoo", "sample", [ROW], RUN, tmp_path)
    replace_rows("speed", "sample", [ROW._replace(value=2.5)], RUN, tmp_path)
    assert systems(tmp_path) == [
        ("esco", "rolecall", "1.500"),
        ("sample", "onnx", "1.500"),
        ("sample", "rolecall", "2.500"),
    ]
    assert systems(tmp_path, "zoo") == [("sample", "rolecall", "1.500")]


def test_a_run_stands_once_and_as_long_as_it_has_rows(tmp_path: Path) -> None:
    """The same machine and command are the same run; a run without rows is forgotten."""
    other = RUN._replace(machine="Intel")
    replace_rows("speed", "sample", [ROW], RUN, tmp_path)
    replace_rows("speed", "esco", [ROW], RUN, tmp_path)
    assert list(read_runs(tmp_path)) == ["speed-1"]
    replace_rows("zoo", "esco", [ROW], RUN, tmp_path)
    replace_rows("speed", "sample", [ROW], other, tmp_path)
    assert list(read_runs(tmp_path)) == ["speed-1", "speed-2", "zoo-1"]
    replace_rows("speed", "esco", [ROW], other, tmp_path)
    assert list(read_runs(tmp_path)) == ["speed-2", "zoo-1"]
    assert {row["run"] for row in read_rows(tmp_path / "speed.csv")} == {"speed-2"}


@pytest.mark.parametrize(
    ("bad", "run", "message"),
    [
        (ROW._replace(value=float("nan")), RUN, "leave the row out"),
        (ROW._replace(high=float("inf")), RUN, "leave the row out"),
        (ROW, RUN, "two figures"),
        (ROW._replace(seed=2), RUN._replace(command="python /data/of/mine/x"), "holds the path"),
        (ROW._replace(seed=2), RUN._replace(machine=str(Path.cwd() / "x")), "holds the path"),
    ],
)
def test_refused_rows_leave_the_files_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: Row, run: Run, message: str
) -> None:
    monkeypatch.setenv("ROLECALL_DATA", "/data/of/mine")
    replace_rows("speed", "sample", [ROW], RUN, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ValueError, match=message):
        replace_rows("speed", "sample", [ROW._replace(value=9.0), bad], run, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_run_names_the_commit_and_the_day() -> None:
    run = Run.now("c")
    assert re.fullmatch(r"[0-9a-f]{7,}", run.commit) and re.fullmatch(r"\d{4}-\d\d-\d\d", run.date)
    assert "cores" in run.machine and run.command == "c"


def test_the_committed_files_are_of_studies_and_every_row_has_its_run() -> None:
    runs = read_runs(ROOT / FOLDER)
    names = [*(one.name for one in studies()), "product"]
    results = {name: read_rows(ROOT / FOLDER / f"{name}.csv") for name in names}
    assert {path.stem for path in (ROOT / FOLDER).glob("*.csv")} == {*results, "runs"}
    assert {run["study"] for run in runs.values()} == set(results)
    assert {row["run"] for rows in results.values() for row in rows} == set(runs)
    assert all(value for run in runs.values() for value in run.values())
    assert not [run for run in runs.values() if "/work" in run["command"] or "/home" in str(run)]
