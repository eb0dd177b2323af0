"""Rendering: golden tables, markers, and that the committed page is what the files render to."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import render
from benchmarks.conclusions import CONCLUSIONS
from benchmarks.markdown_tables import figure, markdown, pivot
from benchmarks.results_file import replace_rows
from benchmarks.sections import SECTIONS

ROOT = Path(__file__).parents[2]

BEGIN, END = "<!-- table:begin -->", "<!-- table:end -->"


def row(**changes: object) -> dict[str, object]:
    common = {"experiment": "pipeline", "dataset": "sample", "system": "1", "test": "typos"}
    figures = {"metric": "success_at_1", "value": 0.53218, "low": 0.5, "high": 0.56, "n": 300}
    return common | figures | {"seed": 1, "machine": "m", "command": "c"} | changes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [
        row(),
        row(metric="mrr", value=0.6),
        row(system="ngram", value=0.25),
        row(dataset="esco", test="annotations"),
        row(test="typos/size:1", n=20),
        row(system="paper", value=0.1),
        row(system="paper", test="training", metric="steps", value=150, low=None, high=None, n=1),
    ]
    replace_rows(rows, tmp_path)
    return tmp_path


def test_readme_table_is_golden(folder: Path) -> None:
    """Baselines before networks, the sample first; no slices, no modes, no other metric."""
    assert render.readme_table(folder).splitlines()[:5] == [
        "| dataset | system | typos | annotations |",
        "| --- | --- | --- | --- |",
        "| sample | ngram | 0.250 [0.500, 0.560] |  |",
        "| sample | 1 | 0.532 [0.500, 0.560] |  |",
        "| esco | 1 |  | 0.532 [0.500, 0.560] |",
    ]


def test_page_has_each_figure_and_how_it_was_measured(folder: Path) -> None:
    page = render.page(folder)
    assert "| typos | 1 | 0.532 [0.500, 0.560] | 0.600 [0.500, 0.560] | 300 | 1 |" in page
    assert "| typos/size:1 | 0.532 [0.500, 0.560] | 20 |" in page
    assert "| typos | paper | 0.100 [0.500, 0.560] | 300 | 1 |" in page
    assert "| training | paper | 150 | 1 |" in page
    assert "| sample: ngram, 1, paper; esco: 1 | `c` | m |" in page
    assert "## speed" not in page
    assert page == render.page(folder)


def test_a_conclusion_stands_behind_the_introduction(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(render, "CONCLUSIONS", {"pipeline": "Take this one."})
    head, section, introduction, said, *_ = render.page(folder).split("\n\n")[1:]
    assert (section, said) == ("## pipeline", "Take this one.")
    assert head.startswith("Written by")
    assert introduction.startswith("Every system on every test")
    assert set(CONCLUSIONS) <= set(SECTIONS)


def test_no_results_give_the_names_alone(tmp_path: Path) -> None:
    page = render.page(tmp_path)
    assert page.count("\n## ") == 1
    assert "| metric | `mrr` |" in page
    assert "Nothing measured" in render.readme_table(tmp_path)


def test_share_of_peak(tmp_path: Path) -> None:
    """20 of 80 GFLOP/s are 25 %."""
    speed = {"experiment": "speed", "metric": "gigaflop_per_second", "low": None, "high": None}
    rows = [
        row(**speed, system="matmul", test="matmul", value=80.0),
        row(**speed, system="rolecall", test="training", value=20.0),
    ]
    replace_rows(rows, tmp_path)
    assert "| training | rolecall | 25% |" in render.page(tmp_path)


def test_pivot_and_escapes() -> None:
    line = {"a": "x", "metric": "peak_mib", "value": "1234.5", "low": "", "high": "", "n": "3"}
    other = line | {"metric": "success_at_1", "value": "1", "n": "4"}
    assert figure(line) == "1,234.5"
    assert pivot([line, other], ("a",), "metric", ("n",)).splitlines() == [
        "| a | success_at_1 | peak_mib | n |",
        "| --- | --- | --- | --- |",
        "| x | 1.000 | 1,234.5 | 3, 4 |",
    ]
    assert markdown(("a|b",), [("c",)]) == "| a\\|b |\n| --- |\n| c |"


def test_only_what_is_between_the_markers_changes() -> None:
    text = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    once = render.between_markers(text, "table", "new")
    assert once == f"before\n{BEGIN}\nnew\n{END}\nafter\n"
    assert render.between_markers(once, "table", "new") == once


@pytest.mark.parametrize("text", ["", BEGIN, END + BEGIN, 2 * (BEGIN + END)])
def test_missing_or_repeated_markers_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="once each"):
        render.between_markers(text, "table", "new")


def test_the_committed_page_is_what_the_files_render_to() -> None:
    if not list((ROOT / "results").glob("*.csv")):
        pytest.skip("nothing measured yet")
    assert (ROOT / render.PAGE).read_text(encoding="utf-8") == render.page(ROOT / "results")
    readme = (ROOT / render.README).read_text(encoding="utf-8")
    table = render.readme_table(ROOT / "results")
    assert render.between_markers(readme, "results", table) == readme
