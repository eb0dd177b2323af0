"""The table of a run, from the tidy file to rows, text and Markdown."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.results import as_markdown, as_text, result_rows, stage_number

TABLE = """system,test,slice,metric,value,low,high,n
ngram,typos,all,mrr,0.8124,0.80049,0.82,300
ngram,typos,short,mrr,0.1,0.1,0.1,3
ngram,typos,all,success_at_5,0.9,0.9,0.9,300
ngram,typos,all,success_at_1,0.7,0.65,0.75,300
1,annotations,all,success_at_1,0.5,,,12
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "table.csv").write_text(TABLE)
    return tmp_path / "table.csv"


def test_two_metrics_over_all_queries_in_the_files_order(table: Path) -> None:
    """0.8124 and 0.80049 are shown with three decimals; a missing metric is an empty cell."""
    assert result_rows(table) == [
        ("ngram", "typos", "0.700 [0.650, 0.750]", "0.812 [0.800, 0.820]", "300"),
        ("1", "annotations", "0.500", "", "12"),
    ]


def test_text_is_aligned() -> None:
    text = as_text([("a", "bbb"), ("cccc", "d")], ("x", "y"))
    assert text == "x     y\na     bbb\ncccc  d"


def test_text_of_no_rows_is_the_head() -> None:
    assert as_text([], ("x", "y")) == "x  y"


def test_markdown_escapes_its_own_sign() -> None:
    assert as_markdown([("a|b", "c")], ("x", "y")) == "| x | y |\n| --- | --- |\n| a\\|b | c |"


def test_stage_number(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text("stage: 0  # base\n")
    assert stage_number(tmp_path) == 0
