"""The stage on toy files: people's tables to resolutions, what it refuses, and equal bytes."""

import json
from pathlib import Path

import pytest
import yaml
from feedback_tables import HEADER
from frames_of import aliases_of, queries_of, variants_of

from tasks.io import schemas
from tasks.io.frames import read_frame, write_frame
from tasks.io.mixes import BEFORE_FEEDBACK, SOURCES
from tasks.pipeline.feedback.stage import main
from tasks.pipeline.pairs.strings import NO_AUXILIARY
from tasks.tables.source_files import IngestError

OUT = Path("data/feedback")
OWN = Path("data/simulate_feedback/feedback.csv")
LINES = (
    "fry cook,cook,cook,v,correct,,ann,2026-01-01",
    "sister,cook,cook,v,incorrect,nurse,ann,2026-01-01",
    "Sister!,cook,cook,v,incorrect,nurse,bob,2026-01-01",
    "asked 1,cook,cook,v,correct,,ann,2026-01-01",
)
SECTION = {"reader": "table", "folder": "given", "from_labels": True, "columns": {}}
SECTION |= {"gate_share": 0.0, "max_rejected_share": 0.0}
TRAINED = {
    "typos": ([("cook", "typed")], schemas.VARIANTS),
    "synonyms": ([("cook", "reworded", "", "", "manual")], schemas.SYNONYM_VARIANTS),
    "extra_words": (
        [("cook", "mined", "mined", True, "train"), ("cook", "tested", "mined", True, "test")],
        schemas.EXTRA_WORDS_VARIANTS,
    ),
}


@pytest.fixture(autouse=True)
def place(here: Path) -> None:
    """Two occupations, what mix 3 trains on, and a query in every stage's file."""
    aliases = aliases_of([("cook", "Cook", True, "train"), ("nurse", "Nurse", True, "train")])
    write_frame(aliases, Path("data/split/aliases.parquet"), schemas.SPLIT_ALIASES)
    parts = ("test", "valid", "gate", "test")
    for number, (writer, split) in enumerate(zip(BEFORE_FEEDBACK, parts, strict=True)):
        frame = queries_of([(f"{number}", writer, split, f"Asked {number}", ["cook"], 1, "alias")])
        write_frame(frame, Path(f"data/{writer}/queries.parquet"), schemas.QUERIES)
    for source in SOURCES:
        rows, schema = TRAINED[source.stage]
        frame = variants_of(rows, schema)
        write_frame(frame, Path(f"data/{source.stage}/variants.parquet"), schema)
    titles = Path("data/auxiliary_taxonomy/titles.parquet")
    write_frame(NO_AUXILIARY, titles, schemas.AUXILIARY_TITLES)
    Path("given").mkdir()
    params()
    give(OWN)
    give("given.csv", *LINES)


def params(**changes: object) -> None:
    Path("params.yaml").write_text(yaml.safe_dump({"feedback": SECTION | changes}))


def give(path: str | Path, *lines: str) -> None:
    path = Path("given", path) if isinstance(path, str) else path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([HEADER, *lines]) + "\n", encoding="utf-8")


def metrics() -> dict:
    return json.loads((OUT / "metrics.json").read_text(encoding="utf-8"))


def trained_titles() -> list[str]:
    resolutions = read_frame(OUT / "resolutions.parquet", schemas.RESOLUTIONS)
    return resolutions.drop_nulls("matched_title")["raw_title"].to_list()


def test_by_hand() -> None:
    main()
    resolutions = read_frame(OUT / "resolutions.parquet", schemas.RESOLUTIONS)
    assert resolutions.drop(schemas.READINGS).rows() == [
        ("Sister!", "cook", "cook", "incorrect", False, "nurse", False),
        ("fry cook", "cook", "cook", "correct", False, "cook", False),
    ]
    assert len(read_frame(OUT / "verdicts.parquet", schemas.VERDICTS)) == len(LINES)
    assert read_frame(OUT / "overrides.parquet", schemas.OVERRIDES).rows() == [
        ("asked 1", "cook", True),  # a query, from which nothing learns
        ("fry cook", "cook", True),
        ("sister", "nurse", True),
    ]
    assert read_frame(OUT / "rejected.parquet", schemas.REJECTED).is_empty()
    assert read_frame(OUT / "queries.parquet", schemas.QUERIES).is_empty()
    counts = metrics()
    assert counts["rows_read"] == {"given/given.csv": 4, "data/simulate_feedback/feedback.csv": 0}
    assert (counts["rows"], counts["query"], counts["predictions"]) == (4, 1, 2)
    before = {path.name: path.read_bytes() for path in OUT.iterdir()}
    give("given.csv", *LINES[::-1])
    main()
    assert before == {path.name: path.read_bytes() for path in OUT.iterdir()}


def test_files_add_up_and_others_are_not_read() -> None:
    """One file in three, whatever their names; a README and a lock file of a spreadsheet."""
    main()
    whole = (OUT / "resolutions.parquet").read_bytes()
    give("given.csv", LINES[2], LINES[3])
    give("a.csv", LINES[1])
    give(OWN, LINES[0])
    for name in ("README.md", ".~lock.a.csv", "old.csv.bak"):
        Path("given", name).write_text("no table at all")
    main()
    assert (OUT / "resolutions.parquet").read_bytes() == whole
    assert list(metrics()["rows_read"]) == [str(OWN), "given/a.csv", "given/given.csv"]
    params(from_labels=False)
    main()
    assert trained_titles() == ["Sister!"]


@pytest.mark.thorough
def test_no_query_of_any_stage_is_learned_from() -> None:
    for number in range(len(BEFORE_FEEDBACK)):
        give("given.csv", f"ASKED {number}!,cook,cook,v,correct,,ann,")
        main()
        assert (trained_titles(), metrics()["query"]) == ([], 1)


def test_the_reserve_is_asked_and_not_trained_on() -> None:
    """With a share of 1 every title but those that earlier mixes train on, and those asked."""
    params(gate_share=1.0)
    trained = ["typed", "reworded", "mined"]
    lines = [f"{title},cook,cook,v,incorrect,nurse,ann," for title in (*trained, "tested")]
    give("given.csv", *LINES, *lines, "nobody knows,cook,cook,v,incorrect,,ann,")
    main()
    assert sorted(trained_titles()) == sorted(trained)
    queries = read_frame(OUT / "queries.parquet", schemas.QUERIES)
    kept = ["Sister!", "fry cook", "tested"]
    assert queries["raw_title"].to_list() == kept
    assert queries["occupation_ids"].to_list() == [["nurse"], ["cook"], ["nurse"]]
    assert set(queries.select("test", "split", "occupation_size", "source").rows()) == {
        ("annotations", "gate", 1, "feedback")
    }
    resolutions = read_frame(OUT / "resolutions.parquet", schemas.RESOLUTIONS)
    assert set(resolutions.filter("held_out")["raw_title"]) == {*kept, "nobody knows"}
    counts = metrics()
    assert (counts["held_out"], counts["gate_queries"], counts["trained"]) == (4, 3, 3)


def test_nobody_said_anything() -> None:
    for from_labels in (True, False):
        params(from_labels=from_labels, gate_share=0.5)
        Path("given/given.csv").unlink(missing_ok=True)
        main()
        assert trained_titles() == []
        assert read_frame(OUT / "queries.parquet", schemas.QUERIES).is_empty()
        assert metrics()["rows_read"] == ({str(OWN): 0} if from_labels else {})


@pytest.mark.thorough
def test_a_wrong_file_ends_it_and_a_bad_row_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    """Two of four rows are no more than half; of three they are. Other files do not dilute it."""
    params(max_rejected_share=0.5)
    bad = [f"{title},pilot,pilot,v,correct,,ann," for title in ("x", "y")]
    give("a.csv", *LINES[:2], *bad, ",,,,,,,")
    main()
    assert metrics()["rejected"] == {"given/a.csv": {"empty row": 1, "unknown occupation": 2}}
    printed = capsys.readouterr().out
    assert "given/a.csv: 5 rows, 1 empty row, 2 refused (2 × unknown occupation)\n" in printed
    assert f"refused rows: {Path.cwd()}/data/feedback/rejected.parquet\n" in printed
    give("a.csv", LINES[0], *bad)
    for path in OUT.iterdir():
        path.unlink()
    with pytest.raises(IngestError) as error:
        main()
    message = str(error.value)
    assert "2 of 3 rows of given/a.csv cannot be used" in message
    assert f"\n  line 3: unknown occupation: {bad[0]}\n" in message
    assert f"{Path.cwd()}/data/feedback/rejected.parquet" in message
    assert [path.name for path in OUT.iterdir()] == ["rejected.parquet"]


def test_a_missing_file_or_folder_says_what_to_do() -> None:
    OWN.unlink()
    missing = r"simulate_feedback/feedback\.csv is missing.*dvc repro feedback"
    with pytest.raises(IngestError, match=missing):
        main()
    params(folder="nowhere")
    with pytest.raises(IngestError, match=r"nowhere is no folder; feedback\.folder"):
        main()
