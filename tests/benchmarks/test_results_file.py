"""The tidy files: schema, what is replaced, rounding, and refusals that leave the file alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.names import unnamed
from benchmarks.results_file import COLUMNS, FOLDER, ResultsError, read_rows, replace_rows, rounded

ROOT = Path(__file__).parents[2]


def row(**changes: object) -> dict[str, object]:
    values = ("speed", "sample", "rolecall", "training", "seconds", 1.5, None, None, 3, 1, "m", "c")
    return dict(zip(COLUMNS, values, strict=True)) | changes


def systems(folder: Path, experiment: str = "speed") -> list[tuple[str, str, str]]:
    rows = read_rows(folder / f"{experiment}.csv")
    return [(row["dataset"], row["system"], row["value"]) for row in rows]


def test_schema_and_golden_bytes(tmp_path: Path) -> None:
    paths = replace_rows([row(low=1.25, high=1234.56, machine="AMD, 2 cores")], tmp_path)
    assert paths == [tmp_path / "speed.csv"]
    assert paths[0].read_text() == (
        "experiment,dataset,system,test,metric,value,low,high,n,seed,machine,command\n"
        'speed,sample,rolecall,training,seconds,1.500,1.250,1235,3,1,"AMD, 2 cores",c\n'
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.53721, "0.5372"),
        (0.00004, "0.0000"),
        (12.3456, "12.35"),
        (12345.6, "12346"),
        (3.0, "3"),
        (0.0, "0"),
        (-0.12344, "-0.1234"),
        (2.5e6 + 0.5, "2500000"),
    ],
)
def test_rounding(value: float, text: str) -> None:
    assert rounded(value) == text


def test_a_data_set_is_replaced_whole_and_others_are_kept(tmp_path: Path) -> None:
    replace_rows([row(), row(system="onnx"), row(dataset="esco"), row(experiment="x")], tmp_path)
    replace_rows([row(value=2.5)], tmp_path)
    assert systems(tmp_path) == [("esco", "rolecall", "1.500"), ("sample", "rolecall", "2.500")]
    assert systems(tmp_path, "x") == [("sample", "rolecall", "1.500")]


def test_only_systems_keeps_the_other_systems(tmp_path: Path) -> None:
    replace_rows([row(), row(test="encoding"), row(system="onnx")], tmp_path)
    replace_rows([row(value=2.5)], tmp_path, only_systems=True)
    assert systems(tmp_path) == [("sample", "onnx", "1.500"), ("sample", "rolecall", "2.500")]


def test_order_of_the_rows_does_not_matter(tmp_path: Path) -> None:
    rows = [row(), row(system="onnx"), row(seed=2), row(metric="peak_mib")]
    first = replace_rows(rows, tmp_path / "a")[0].read_bytes()
    assert replace_rows(rows[::-1], tmp_path / "b")[0].read_bytes() == first


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"extra": 1}, "columns"),
        ({"value": float("nan")}, "leave the row out"),
        ({"high": float("inf")}, "leave the row out"),
        ({"command": "python /data/of/mine/x"}, "ROLECALL_DATA"),
        ({"command": str(Path.cwd() / "x")}, "holds the path"),
    ],
)
def test_refused_rows_leave_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bad: dict[str, object], message: str
) -> None:
    monkeypatch.setenv("ROLECALL_DATA", "/data/of/mine")
    path = replace_rows([row()], tmp_path)[0]
    before = path.read_bytes()
    with pytest.raises(ResultsError, match=message):
        replace_rows([row(value=9.0), row(system="onnx") | bad], tmp_path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_one_figure_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="two figures"):
        replace_rows([row(), row(value=2.5)], tmp_path)


def test_another_schema_is_refused(tmp_path: Path) -> None:
    (tmp_path / "speed.csv").write_text("system,value\na,1\n")
    with pytest.raises(ResultsError, match="expected"):
        replace_rows([row()], tmp_path)


def test_unknown_names_are_found() -> None:
    good = {"experiment": "speed", "dataset": "esco", "system": "ngram", "metric": "mrr"}
    assert unnamed([good | {"test": "typos/size:16+"}, good | {"test": "pairs_1.25m"}]) == set()
    assert unnamed([good | {"test": "typos/big"}]) == {("test", "big")}
    assert unnamed([good | {"test": "pairs_manym", "system": "x"}]) == {
        ("test", "pairs_manym"),
        ("system", "x"),
    }


def test_every_name_in_the_results_is_explained() -> None:
    rows = [row for path in (ROOT / FOLDER).glob("*.csv") for row in read_rows(path)]
    if not rows:
        pytest.skip("nothing measured yet")
    assert unnamed(rows) == set()
    assert not [row for row in rows if "/work" in row["command"] or "/home" in row["command"]]
