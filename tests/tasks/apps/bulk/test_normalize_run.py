"""A bulk run with a model that shouts: every row once, resumed, the same bytes, clear words."""

import json
import sys
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from pathlib import Path
from threading import Event, get_ident
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from shouting import TITLES, Shouting, content, model, run, titles

from tasks.apps.bulk import normalize, output, source
from tasks.apps.bulk.inspection import SourceError
from tasks.apps.bulk.normalize import ahead, require_place, require_room
from tasks.apps.unfinished import OutputError
from tasks.release.gate.impact import LAST, last_run

__all__ = ["model", "titles"]


def test_every_row_once_in_order(model: Shouting, titles: Path, tmp_path: Path) -> None:
    manifest = run(titles, tmp_path / "out", tmp_path / "cache", prefix="to_")
    assert json.loads((tmp_path / "out/manifest.json").read_text()) == manifest
    assert [part["rows"] for part in manifest["parts"]] == [3, 3, 1, 2]
    assert (manifest["rows"], manifest["answered"]) == (9, 6)
    assert manifest["abstained"] == {"empty": 2, "null": 1}
    assert [file["rows"] for file in manifest["files"]] == [7, 2]
    names = [part["name"] for part in manifest["parts"]]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"manifest.json", *names}
    rows = pa.concat_tables(pq.read_table(tmp_path / "out" / name) for name in names)
    assert rows["row"].to_pylist() == [*range(7), 0, 1]
    loud = [title.upper() if title else None for title in TITLES + TITLES[:2]]
    assert rows["to_loud"].to_pylist() == loud
    assert model.asked == [None, "nurse", "", "cook"], "each distinct title once"


def test_columns_come_back_with_their_types(model: Shouting, tmp_path: Path) -> None:
    """Of text, whether its values differ or repeat, of lists and of the model's own columns."""
    values = {"title": ["nurse", "cook"] * 3, "words": [["a", "b"], [], None, ["a"], ["c"], ["a"]]}
    values |= {"key": pa.array(list("abcdef"), pa.large_string())}
    values |= {"kind": pa.array(["x"] * 5 + [None]).dictionary_encode()}
    table = pa.table(values | {"n": pa.array(range(6), pa.int16())})
    pq.write_table(table, tmp_path / "in.parquet")
    for out, file in (("out", "out/part-0000-00001.parquet"), ("out.parquet", "out.parquet")):
        run(tmp_path / "in.parquet", tmp_path / out, tmp_path / "cache", column=["title"])
        rows = pq.read_table(tmp_path / file)
        assert rows.select(table.column_names).equals(table[-len(rows) :])
        assert rows.schema == pa.schema([*table.schema, *model.schema])


def test_the_column_of_the_profile_is_asked(model: Shouting, tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text("ingest: {inputs: {columns: {raw_title: Beruf}}}")
    (tmp_path / "in.csv").write_text("title,Beruf\nignored,nurse\n")
    run(tmp_path / "in.csv", tmp_path / "out", tmp_path / "cache")
    assert model.asked == [None, "nurse"]


def test_tomorrow_only_what_is_new_is_asked(model: Shouting, titles: Path, tmp_path: Path) -> None:
    run(titles, tmp_path / "out", tmp_path / "cache")
    model.asked.clear()
    run(titles, tmp_path / "again", tmp_path / "cache")
    assert model.asked == [None]
    assert content(tmp_path / "out") == content(tmp_path / "again")
    (tmp_path / "again/plan.json").write_text("left by a kill at the very end")
    run(titles, tmp_path / "again", tmp_path / "cache")
    assert content(tmp_path / "out") == content(tmp_path / "again"), "nothing to do"
    model.asked.clear()
    manifest = run(titles, tmp_path / "in_german", tmp_path / "cache", language="de")
    assert model.asked == [None, "nurse", "", "cook"], "other answers than those of the cache"
    assert manifest["result"]["params"] == {"language": "de"}


def test_a_damaged_file_keeps_what_is_finished(model, titles, tmp_path, monkeypatch) -> None:
    """Repaired, with fewer rows than before, it is read anew; no part of another file is."""
    damaged = titles / "b.parquet"
    pq.write_table(pa.table({"row": range(900), "title": ["x" * 500] * 900}), damaged)
    before = damaged.read_bytes()
    damaged.write_bytes(before[:4] + b"\0" * 40 + before[44:])
    monkeypatch.setattr(source, "ROWS", 5)
    with pytest.raises(SourceError, match=r"b\.parquet cannot be read.*finished parts are kept"):
        run(titles, tmp_path / "out", tmp_path / "cache")
    parts = (tmp_path / "out.unfinished").glob("*0-*.parquet")
    kept = {path.name: path.stat().st_mtime_ns for path in parts}
    assert len(kept) == 2, "of the first file"
    (tmp_path / "out.unfinished/part-0001-00002.parquet").write_text("of the file as it was")
    pq.write_table(pa.table({"row": [7, 8], "title": ["cook", "nurse"]}), damaged)
    run(titles, tmp_path / "out", tmp_path / "cache")
    assert (
        kept.items() <= {p.name: p.stat().st_mtime_ns for p in (tmp_path / "out").iterdir()}.items()
    )
    run(titles, tmp_path / "again", tmp_path / "cache")
    assert content(tmp_path / "out") == content(tmp_path / "again")


def test_a_process_that_is_ended_is_told_with_what_to_do(
    model: Shouting, titles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = Shouting.__call__

    def ended(self: Shouting, params: Any, asked: list[str | None]) -> Any:
        if "cook" in asked:
            raise BrokenProcessPool
        return answered(self, params, asked)

    monkeypatch.setattr(Shouting, "__call__", ended)
    with pytest.raises(OutputError, match="fewer --threads: finished parts are kept"):
        run(titles, tmp_path / "out", tmp_path / "cache")
    monkeypatch.setattr(Shouting, "__call__", answered)
    assert run(titles, tmp_path / "out", tmp_path / "cache")["rows"] == 9


def test_what_another_run_left_or_wrote_is_not_mixed_with_this(
    model: Shouting, titles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a finished output that is said before a model is loaded."""

    def killed(*arguments: Any) -> None:
        raise KeyboardInterrupt

    paths = (tmp_path / "out", tmp_path / "cache")
    with monkeypatch.context() as patch:
        patch.setattr(output.Output, "write_file", killed)
        with pytest.raises(KeyboardInterrupt):
            run(titles, *paths)
    with pytest.raises(OutputError, match="left by a run with other params"):
        run(titles, *paths, top_k=2)
    run(titles, *paths)
    model.asked.clear()
    with pytest.raises(OutputError, match="is there already, of a run with other input, files"):
        run(titles / "a.parquet", *paths)
    assert model.asked == []
    with pytest.raises(OutputError, match="is there already, of a run with other model"):
        run(titles, *paths, model="another")


def test_a_folder_of_somebody_else_is_neither_used_nor_emptied(
    model: Shouting, titles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither before the run nor if files come in while it is at work."""
    paths = (tmp_path / "out", tmp_path / "cache")
    left = tmp_path / "out.unfinished/part-0000-00000.parquet"
    left.parent.mkdir()
    left.write_text("of a run without a plan")
    with pytest.raises(OutputError, match=r"has files and no plan\.json"):
        run(titles, *paths)
    assert left.read_text() == "of a run without a plan"
    left.unlink()
    write_file = output.Output.write_file

    def mine(self: output.Output, number: int, *values: Any) -> None:
        (self.folder / "mine.txt").write_text("mine")
        write_file(self, number, *values)

    with monkeypatch.context() as patch:
        patch.setattr(output.Output, "write_file", mine)
        with pytest.raises(OutputError, match=r"files of somebody else \(mine\.txt\)"):
            run(titles, *paths)
    (tmp_path / "out.unfinished/mine.txt").unlink()
    run(titles, *paths)


def test_refused_rows_stand_in_a_file(model: Shouting, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id,title\n1,nurse\n2\n3,cook\n")
    assert run(tmp_path / "in.csv", tmp_path / "out", tmp_path / "cache")["refused"] == 1
    (refused,) = pq.read_table(tmp_path / "out/refused.parquet").to_pylist()
    assert [*refused.items()] == [
        *(("file", "in.csv"), ("line", 3), ("reason", "wrong number of fields"), ("row", "2"))
    ]


def test_the_command_notes_what_was_chosen_in_the_manifest(model, tmp_path, monkeypatch) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.csv").write_text("en,de\nnurse,\n,Koch\n")
    (tmp_path / "in/README.txt").write_text("about\n")
    monkeypatch.chdir(tmp_path)
    words = ("in", "out", "--model=m", "--cache-dir=cache", "--file-column=file")
    monkeypatch.setattr(sys, "argv", ["bulk", *words, "--column=en", "--column=de", "--top-k=2"])
    normalize.main()
    result = json.loads((tmp_path / "out/manifest.json").read_text())["result"]
    assert (result["column"], result["columns"]) == ("asked_title", ["en", "de"])
    assert (result["left_out"], result["file_column"]) == (["README.txt"], "file")
    assert (result["params"], result["prefix"]) == ({"top_k": 2}, "")
    rows = pq.read_table(tmp_path / "out/part-0001-00000.parquet").to_pylist()
    assert [(row["loud"], row["file"]) for row in rows] == [("NURSE", "a.csv"), ("KOCH", "a.csv")]


def test_columns_of_the_answer_are_not_overwritten(model: Shouting, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("reason,title\n1,nurse\n")
    with pytest.raises(SourceError, match="reason; use --prefix=answer_"):
        run(tmp_path / "in.csv", tmp_path / "out", tmp_path / "cache")


def test_a_run_of_a_registered_model_is_remembered_also_by_a_run_that_finds_it_there(
    model: Shouting, titles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    for _ in range(2):
        run(titles, tmp_path / "out", tmp_path / "cache", model="models:/toy")
        known = last_run(tmp_path, "toy")
        assert known is not None and (known.model, known.rows) == ("models:/toy/1", 9)
        assert known.titles.rows() == [("nurse", 4), ("", 2), ("cook", 2)]
        (tmp_path / LAST / "toy.json").unlink()


def test_the_next_item_is_made_while_one_is_used() -> None:
    made, used = Event(), Event()

    def items() -> Iterator[int]:
        yield get_ident()
        assert used.wait(60)
        made.set()
        yield get_ident()

    numbers = ahead(items())
    first = next(numbers)
    used.set()
    assert made.wait(60), "nobody has asked for the second one"
    assert first == next(numbers) != get_ident()


def test_nothing_is_made_once_it_is_closed() -> None:
    made: list[int] = []
    with closing(ahead(map(made.append, range(9)))) as numbers:
        next(numbers)
    assert len(made) == 2


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("in/a.csv", "in/deep/b.csv", "out.unfinished/c.csv", "single.refused.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("title\n")
    (tmp_path / "link").symlink_to("in")
    return tmp_path


@pytest.mark.parametrize(
    ("address", "path", "message"),
    [
        ("in", "in/answers", "lies in the input folder"),
        ("in", "in/answers.csv", "lies in the input folder"),
        ("in", "link/deep/answers", "lies in the input folder"),
        (".", "answers", "lies in the input folder"),
        ("in/deep/b.csv", "in", "holds the input"),
        ("in/a.csv", "in/a.csv", "holds the input"),
        ("out.unfinished/c.csv", "out", "holds the input"),
        ("single.refused.csv", "single.csv", "holds the input"),
        ("in", "answers.tsv", r"no \.tsv file can be written; let the name end in \.parquet"),
        ("in", "answers.csv.gz", r"no \.gz file can be written"),
    ],
)
def test_paths_that_a_run_must_not_write_to(here, address, path, message) -> None:
    with pytest.raises(OutputError, match=message):
        require_place(here / path, address)


def test_paths_that_a_run_may_write_to(here: Path) -> None:
    before = sorted(here.rglob("*"))
    require_place(here / "in/answers.csv", "in/a.csv")
    for path in ("answers", "answers.2026-11", "input"):
        require_place(here / path, "in")
    require_place(here / "in2", "memory://in")
    assert sorted(here.rglob("*")) == before


def test_a_sheet_has_room_or_the_run_does_not_start(tmp_path, monkeypatch) -> None:
    """Six rows and the header: the length of the first lines says half of them, so all count."""
    monkeypatch.setattr(normalize, "EXCEL_ROWS", 6)
    (tmp_path / "in.csv").write_text("title\n" + "nurse\n" * 6)
    found = source.TitleSource.find(str(tmp_path / "in.csv"))
    with pytest.raises(OutputError, match=r"6 rows of .* room for 5 of .* \.csv or \.parquet"):
        require_room(tmp_path / "out.xlsx", found)
    require_room(tmp_path / "out.csv", found)
    monkeypatch.setattr(normalize, "EXCEL_ROWS", 7)
    require_room(tmp_path / "out.xlsx", found)
