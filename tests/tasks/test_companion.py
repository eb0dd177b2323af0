"""The second taxonomy: what is read, what a test asks, and that it may be absent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from frames_of import queries_that_ask

from tasks.companion import companion, main
from tasks.files.frames import check, read_frame, write_frame
from tasks.files.queries import BEFORE_FEEDBACK
from tasks.files.schemas import ALIASES, COMPANION, QUERIES, REJECTED
from tasks.params.section import ParamsError
from tasks.readers.outside import IngestError


def aliases(rows: list[tuple[str, str]]) -> pl.DataFrame:
    named = [(occupation, title, False) for occupation, title in rows]
    return pl.DataFrame(named, schema=dict(ALIASES), orient="row")


def test_distinct_titles_that_no_query_asks() -> None:
    read = [("b", "Chef"), ("b", "Cook  (hot)"), ("a", "cook (hot)"), ("a", "Baker!"), ("a", "\t")]
    made = companion(aliases(read), {"baker"})
    check(made.titles, COMPANION, "titles")
    assert made.titles.rows() == [
        ("chef", "chef", ["b"]),
        ("cook (hot)", "cook hot", ["a", "b"]),
    ]
    assert made.counts == {"rows": 4, "asked": 1, "titles": 2}


def run_in(root: Path, **changes: Any) -> None:
    """Run the stage where "nurse" is asked; by default beside a table of three good rows."""
    columns = {"occupation_id": "id", "title": "title"}
    section = {"folder": ".", "reader": "table", "files": {"titles": "other.csv"}}
    section |= {"columns": columns, "delimiter": "", "encoding": "", "max_rejected_share": 0.2}
    values = {"companion": section | changes}
    (root / "params.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    for stage in BEFORE_FEEDBACK:
        write_frame(queries_that_ask(["Nurse"]), root / f"data/{stage}/queries.parquet", QUERIES)
    main()


def titles() -> list[str]:
    return read_frame(Path("data/companion/titles.parquet"), COMPANION)["title"].to_list()


def test_the_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = tmp_path / "other.csv"
    table.write_text("id,title\n1,cook\n1,nurse\n2,pilot\n", encoding="utf-8")
    run_in(tmp_path)
    assert titles() == ["cook", "pilot"]
    table.write_text("id,title\n1,cook\n,nurse\n", encoding="utf-8")
    with pytest.raises(IngestError, match=r"1 of 2 rows .* more than companion\.max_rejected_shar"):
        run_in(tmp_path)
    refused = read_frame(Path("data/companion/rejected.parquet"), REJECTED)
    assert refused["reason"].to_list() == ["empty occupation_id"]


def test_without_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_in(tmp_path, reader="none", files={}, columns={})
    assert titles() == []
    with pytest.raises(ParamsError, match="'sql' is no reader of taxonomies"):
        run_in(tmp_path, reader="sql")
    with pytest.raises(ParamsError, match=r"\.\./other\.csv"):
        run_in(tmp_path, files={"titles": "../other.csv"})
