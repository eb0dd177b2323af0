"""What a stage's command makes of an error: a message for our own, a traceback for all others."""

import json
from pathlib import Path

import pytest

from tasks.io.command import listed, markdown_table, print_counts, run
from tasks.io.files import write_json
from tasks.io.frames import read_frame
from tasks.io.schemas import ALIASES


def test_an_error_of_our_own_is_a_message_and_its_place(tmp_path: Path) -> None:
    missing = tmp_path / "aliases.parquet"
    with pytest.raises(SystemExit) as ended:
        run(lambda: print(read_frame(missing, ALIASES)))
    message, place = str(ended.value).splitlines()
    assert message.startswith(f"error: {missing} is missing: run `dvc repro`")
    assert place.startswith("(FileNotFoundError in tasks/io/files.py, line ")


def test_an_error_of_a_library_keeps_its_traceback(tmp_path: Path) -> None:
    """Below our code, and in code that is not ours: both are faults in the program."""
    with pytest.raises(ValueError, match="Circular reference"):
        run(lambda: write_json((ring := []).append(ring) or ring, tmp_path / "ring.json"))
    with pytest.raises(json.JSONDecodeError):
        run(lambda: json.loads("{"))


def test_success_and_exit_statuses_go_through() -> None:
    called = []
    run(lambda: called.append(1))
    assert called == [1]

    def asks_for_help() -> None:
        raise SystemExit(2)

    with pytest.raises(SystemExit, match="2"):
        run(asks_for_help)


def test_names_are_listed_up_to_ten() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed([*map(str, range(1012))]) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1,002 more"


def test_counts_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    """A line for what stands together; nothing for what is empty."""
    counts = {"pairs": 434135, "share": 0.25, "left_out": {}, "mined": {"kept": 7, "by_part": {}}}
    print_counts({**counts, "titles": {"manual": {"is_a_title": 1, "kept": 2}, "file": "a.csv"}})
    lines = ["pairs 434,135, share 0.25", "mined: kept 7", "titles: file a.csv"]
    lines.append("titles, manual: is a title 1, kept 2")
    assert capsys.readouterr().out.splitlines() == lines


def test_a_markdown_table_escapes_its_own_sign() -> None:
    assert markdown_table(("x",), [("a|b",)]) == "| x |\n| --- |\n| a\\|b |"
    assert markdown_table(("x", "y"), [], ("---", "---:")) == "| x | y |\n| --- | ---: |"
