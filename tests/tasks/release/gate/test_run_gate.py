"""What the gate asks."""

from __future__ import annotations

from pathlib import Path

from frames_of import queries_of

from tasks.io.frames import write_frame
from tasks.io.queries import BEFORE_FEEDBACK
from tasks.io.schemas import QUERIES
from tasks.release.gate.run_gate import gate_queries


def test_an_input_whose_label_contradicts_its_title_is_not_asked(tmp_path: Path) -> None:
    rows = [
        (f"{source}-{split}", "extra_words", split, "baker wanted", ["a"], 1, source)
        for source in ("label_agrees", "label_differs")
        for split in ("gate", "test")
    ]
    for stage in BEFORE_FEEDBACK:
        own = queries_of(rows if stage == "extra_words" else [])
        write_frame(own, tmp_path / stage / "queries.parquet", QUERIES)
    assert gate_queries(tmp_path)["query_id"].to_list() == ["label_agrees-gate"]
