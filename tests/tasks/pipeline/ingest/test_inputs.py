"""Raw inputs: kept as received, in order, as often as they occur."""

import polars as pl
import pytest
from params_of import inputs_params

from tasks.pipeline.ingest.inputs import read_inputs
from tasks.tables.rejected import RejectedRows
from tasks.tables.source_files import IngestError

MAP = {"raw_title": "text", "occupation_id": "id"}


def read(reader: str, file: object, columns: dict[str, str]):
    rejected = RejectedRows()
    params = inputs_params(reader, str(file), columns=columns)
    return read_inputs(params, {"cook", "nurse"}, rejected), rejected


def test_table(tmp_path) -> None:
    path = tmp_path / "i.csv"
    path.write_text(
        "id,text\nnurse, RN (urgent!) \n,???\ncook,chef\ncook,chef\npilot,pilot\ncook, \n",
        encoding="utf-8",
    )
    frame, rejected = read("table", path, MAP)
    assert frame.rows() == [
        (0, " RN (urgent!) ", "nurse"),
        (1, "???", None),
        (2, "chef", "cook"),
        (3, "chef", "cook"),
    ]
    assert rejected.refused == [
        ("i.csv", 6, "unknown occupation", "pilot,pilot"),
        ("i.csv", 7, "empty raw_title", "cook, "),
    ]


@pytest.mark.parametrize(
    ("known", "taken"), [({"2231"}, "2231"), ({"2231", "2231.0"}, "2231.0"), ({"223"}, None)]
)
def test_ids_that_are_whole_floats_are_integers(tmp_path, known: set[str], taken) -> None:
    (tmp_path / "i.csv").write_text("id,text\n2231.0,nurse\n", encoding="utf-8")
    params = inputs_params("table", str(tmp_path / "i.csv"), columns=MAP)
    rows = read_inputs(params, known, RejectedRows())["occupation_id"].to_list()
    assert rows == ([taken] if taken else [])


def test_several_files_in_their_order(tmp_path) -> None:
    """Detect the form of each by itself."""
    (tmp_path / "a.csv").write_text("text,id\nchef,cook\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("id;text\nnurse;RN\n", encoding="utf-8")
    params = inputs_params("table", [str(tmp_path / n) for n in ("a.csv", "b.csv")], columns=MAP)
    frame = read_inputs(params, {"cook", "nurse"}, RejectedRows())
    assert frame.rows() == [(0, "chef", "cook"), (1, "RN", "nurse")]


def test_parquet_without_labels(tmp_path) -> None:
    path = tmp_path / "i.parquet"
    pl.DataFrame({"text": ["b", None, "a"]}).write_parquet(path)
    frame, rejected = read("table", path, {"raw_title": "text"})
    assert frame.rows() == [(0, "b", None), (1, "a", None)]
    assert rejected.reasons() == {"empty row": 1}


def test_lines(tmp_path) -> None:
    path = tmp_path / "i.txt"
    path.write_bytes("\ufeffcook, 'no' \"CSV\r\n\r\nnurse".encode())
    frame, rejected = read("lines", path, {})
    assert frame.rows() == [(0, "cook, 'no' \"CSV", None), (1, "nurse", None)]
    assert rejected.rows == {"i.txt": 3}


def test_none() -> None:
    frame, rejected = read("none", "", {})
    assert frame.is_empty()
    assert rejected.rows == {}


@pytest.mark.parametrize("columns", [{}, {"occupation_id": "id"}, {"raw_title": "a", "title": "b"}])
def test_a_map_that_does_not_fit_is_explained(columns: dict[str, str]) -> None:
    with pytest.raises(IngestError, match=r"ingest\.inputs\.columns: missing"):
        read("table", "i.csv", columns)


@pytest.mark.parametrize("reader", ["table", "lines"])
def test_a_missing_file_is_named_with_what_to_do(reader: str) -> None:
    with pytest.raises(IngestError, match=r"no/such is missing.*ingest\.inputs\.file.*external:"):
        read(reader, "no/such", MAP)
