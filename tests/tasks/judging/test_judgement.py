"""What the gate asks."""

from __future__ import annotations

from pathlib import Path

from frames_of import queries_of

from tasks.files.frames import write_frame
from tasks.files.queries import BEFORE_FEEDBACK
from tasks.files.schemas import QUERIES
from tasks.judging.judgement import gate_queries


def test_an_input_whose_label_contradicts_its_title_is_not_asked(tmp_path: Path) -> None:
    rows = [
        (f"{source}-{part}", "extra_words", part, "baker wanted", ["a"], 1, source)
        for source in ("label_agrees", "label_differs")
        for part in ("gate", "test")
    ]
    for stage in BEFORE_FEEDBACK:
        own = queries_of(rows if stage == "extra_words" else [])
        write_frame(own, tmp_path / stage / "queries.parquet", QUERIES)
    assert gate_queries(tmp_path)["query_id"].to_list() == ["label_agrees-gate"]
