"""The table of files between stages is that of the schemas, and misses no output."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from files_table import BEGIN, FILES, PAGE, files_table, renewed, spelled

ROOT = Path(__file__).parents[2]


def test_the_page_holds_the_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert renewed(text) == text, "python docs/hooks/files_table.py"


def test_the_text_around_the_table_stays() -> None:
    made = renewed("before\n<!-- files:begin -->\nold\n<!-- files:end -->\nbehind")
    assert made.startswith("before\n<!-- files:begin -->\n| file |")
    assert made.endswith(f"{files_table()}\n<!-- files:end -->\nbehind")


def test_a_page_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match=BEGIN):
        renewed("no table")


def test_braces_stand_for_several_paths() -> None:
    assert list(spelled("{a,b/K}/x.{c,d}")) == ["a/x.c", "a/x.d", "b/K/x.c", "b/K/x.d"]
    assert list(spelled("a/x")) == ["a/x"]


def test_every_table_that_a_stage_writes_is_listed() -> None:
    listed = {f"data/{path}" for file in FILES for path in spelled(file.path)}
    folders = tuple(path for path in listed if path.endswith("/"))
    for name, stage in yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"].items():
        for output in stage.get("do", stage)["outs"]:
            short = output.replace("${item.k}", "K").replace("${item.seed}", "SEED")
            short = short.replace("${key}", "K" if name == "pairs" else "SYSTEM")
            if short.endswith(".parquet"):
                assert short in listed or short.startswith(folders), short
