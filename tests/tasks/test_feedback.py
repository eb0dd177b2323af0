"""The stage on toy files: people's table to verdicts, what it refuses, and equal bytes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from frames_of import aliases_of, queries_of

from tasks.feedback import main
from tasks.files.frames import read_frame, write_frame
from tasks.files.queries import WRITERS
from tasks.files.schemas import FEEDBACK, QUERIES, REJECTED, SPLIT_ALIASES, VERDICTS
from tasks.readers.outside import IngestError

OUT = Path("data/feedback")
LINES = (
    "fry cook,cook,cook,v,right,,ann,2026-01-01",
    "sister,cook,cook,v,wrong,nurse,ann,2026-01-01",
    "Sister!,cook,cook,v,wrong,nurse,bob,2026-01-01",
    "asked 1,cook,cook,v,right,,ann,2026-01-01",
)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two occupations, and a query in every stage's file, each of another part."""
    monkeypatch.chdir(tmp_path)
    aliases = aliases_of([("cook", "Cook", True, "train"), ("nurse", "Nurse", True, "train")])
    write_frame(aliases, Path("data/split/aliases.parquet"), SPLIT_ALIASES)
    parts = ("test", "valid", "gate", "test")
    for number, (writer, part) in enumerate(zip(WRITERS, parts, strict=True)):
        frame = queries_of([(f"{number}", writer, part, f"Asked {number}", ["cook"], 1, "alias")])
        write_frame(frame, Path(f"data/{writer}/queries.parquet"), QUERIES)
    give(*LINES)


def give(*lines: str, share: float = 0.0) -> None:
    section = {"reader": "table", "file": "given.csv", "columns": {}, "max_rejected_share": share}
    Path("params.yaml").write_text(yaml.safe_dump({"feedback": section}), encoding="utf-8")
    Path("given.csv").write_text("\n".join([",".join(FEEDBACK), *lines]) + "\n", encoding="utf-8")


def metrics() -> dict:
    return json.loads((OUT / "metrics.json").read_text(encoding="utf-8"))


def test_by_hand() -> None:
    main()
    assert read_frame(OUT / "verdicts.parquet", VERDICTS).rows() == [
        ("Sister!", "sister!", "sister", "cook", "cook", False, "nurse"),
        ("fry cook", "fry cook", "fry cook", "cook", "cook", True, None),
    ]
    assert read_frame(OUT / "rejected.parquet", REJECTED).is_empty()
    counts = metrics()
    assert {name: counts[name] for name in ("rows_read", "rows", "query", "predictions")} == {
        "rows_read": 4,
        "rows": 4,
        "query": 1,
        "predictions": 2,
    }
    before = {path.name: path.read_bytes() for path in OUT.iterdir()}
    give(*LINES[::-1])
    main()
    assert before == {path.name: path.read_bytes() for path in OUT.iterdir()}


@pytest.mark.parametrize("number", range(len(WRITERS)))
def test_no_query_of_any_stage_becomes_a_verdict(number: int) -> None:
    give(f"ASKED {number}!,cook,cook,v,right,,ann,")
    main()
    assert read_frame(OUT / "verdicts.parquet", VERDICTS).is_empty()
    assert metrics()["query"] == 1


def test_nobody_said_anything() -> None:
    give()
    main()
    assert read_frame(OUT / "verdicts.parquet", VERDICTS).is_empty()
    assert metrics()["rows_read"] == 0


def test_too_many_faults_end_it_and_are_shown() -> None:
    """One of four rows is 0.25; an empty row is a notice and does not count."""
    lines = (*LINES[:3], "x,pilot,pilot,v,right,,ann,")
    give(*lines, share=0.24)
    with pytest.raises(IngestError, match=r"1 of 4 rows.*data/feedback/rejected\.parquet.*mend"):
        main()
    rejected = read_frame(OUT / "rejected.parquet", REJECTED)
    assert rejected.rows() == [("given.csv", 5, "unknown occupation", lines[-1])]
    assert not (OUT / "verdicts.parquet").exists()
    give(*lines, share=0.25)
    main()
    assert metrics()["rejected"] == {"unknown occupation": 1}
    give(*LINES, ",,,,,,,")
    main()
    assert metrics()["rejected"] == {"empty row": 1}


def test_a_missing_file_says_what_to_do() -> None:
    Path("given.csv").unlink()
    with pytest.raises(IngestError, match=r"given\.csv is missing.*feedback\.file.*dvc repro"):
        main()
