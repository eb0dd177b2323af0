"""The table of a run, from the tidy file to rows, text and Markdown."""

from pathlib import Path
from typing import Any

import pytest

from flows.results import as_facts, as_text, bulk_facts, result_rows

TABLE = """system,test,slice,metric,value,low,high,n
ngram,typos,all,mrr,0.8124,0.80049,0.82,300
ngram,typos,short,mrr,0.1,0.1,0.1,3
ngram,typos,all,success_at_5,0.9,0.9,0.9,300
ngram,typos,all,success_at_1,0.7,0.65,0.75,300
ngram,annotations,all,success_at_1,0.25,,,12
"""
NETWORK = """system,test,slice,metric,value,low,high,n
corrections,typos,all,success_at_1,0.9,,,300
corrections,annotations,all,success_at_1,0.5,,,12
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a repository with the files of its report: mix corrections, the first of two seeds."""
    (tmp_path / "params.yaml").write_text('mix: "corrections"\nseeds: [7, 1]\n')
    for folder, text in (("lexical", TABLE), ("evaluate/corrections/7", NETWORK)):
        (tmp_path / "data" / folder).mkdir(parents=True)
        (tmp_path / "data" / folder / "table.csv").write_text(text)
    return tmp_path


def test_two_metrics_over_all_queries_systems_together(root: Path) -> None:
    """Show 0.8124 and 0.80049 with three decimals; a missing metric is an empty cell."""
    assert result_rows(root) == [
        ("typos", "ngram", "0.700 [0.650, 0.750]", "0.812 [0.800, 0.820]", "300"),
        ("typos", "corrections", "0.900", "", "300"),
        ("annotations", "ngram", "0.250", "", "12"),
        ("annotations", "corrections", "0.500", "", "12"),
    ]


def test_text_is_aligned_and_markdown_escapes_its_own_sign() -> None:
    text = as_text([("a", "bbb"), ("cccc", "d")], ("x", "y"))
    assert text == "x     y\na     bbb\ncccc  d"
    assert as_text([], ("x", "y")) == "x  y"
    assert as_facts({"a": "one", "stages": "two"}) == "a       one\nstages  two"


def test_facts_of_a_bulk_run() -> None:
    """A column that is misspelt in one file of a folder costs its rows: nobody may miss that."""
    result = {"model": "models:/toy/1", "model_version": "1", "taxonomy_version": "abc"}
    manifest: dict[str, Any] = {
        **{"rows": 2417, "parts": [{}], "answered": 2000, "refused": 0, "result": result},
        "abstained": {"low confidence": 410, "unreadable": 7},
    }
    expected = {"rows": "2,417, parts: 1", "answers": "2,000", "output": "a.csv"}
    expected |= {"without": "410 low confidence, 7 unreadable"}
    expected |= {"model": "models:/toy/1, 1; taxonomy abc"}
    assert bulk_facts(manifest, Path("a.csv")) == expected
    more = {"refused": 3, "result": result | {"left_out": ["README.txt", "march.csv"]}}
    assert bulk_facts(manifest | more, Path("a.csv")) == expected | {
        "refused": "3 rows, with reasons: a.refused.csv",
        "left out": "README.txt, march.csv: without a column of titles",
    }
