"""Pages: tables by hand, markers, and that what is committed is what the files render to."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import render
from benchmarks.__main__ import parser
from benchmarks.pages.plots import curves, scatters, svg
from benchmarks.pages.tables import Table, figure, markdown, over_seeds
from benchmarks.render import between_markers, readme
from benchmarks.results import Line, Row, Run, replace_rows
from benchmarks.study import STUDIES, Study, studies, study

ROOT = Path(__file__).parents[2]
BEGIN, END = "<!-- table:begin -->", "<!-- table:end -->"
RUN = Run("abc1234", "2026-01-02", "m", "c")


def line(**changes: str) -> Line:
    values = {"dataset": "sample", "system": "1", "test": "typos", "metric": "success_at_1"}
    values |= {"value": "0.53218", "low": "0.5", "high": "0.56", "n": "300", "seed": "1"}
    return values | {"run": "table3-1"} | changes


def test_figures_and_escapes() -> None:
    assert figure(line(metric="peak_mib", value="1234.5", low="", high="")) == "1,234.5"
    assert figure(line()) == "0.532 [0.500, 0.560]"
    assert figure(line(), ends=False) == "0.532"
    assert markdown(("a|b",), [("c",)]) == "| a\\|b |\n| --- |\n| c |"


def test_a_paper_stands_beside_and_what_stands_behind() -> None:
    rows = [line(value="1", n="4"), line(value="1", metric="mrr", n="3")]
    table = Table("t", column="metric", after=("n",), beside="own", ends=False)
    heading, made = table.parts(rows, [], {"own": {"success_at_1": {"1": 0.99}}})
    assert heading == "### sample: t"
    assert made.splitlines()[0::2] == [
        "| system | success_at_1 | paper | mrr | n |",
        "| 1 | 1.000 | 0.99 | 1.000 | 4, 3 |",
    ]


def test_a_table_chooses_names_and_orders_rows() -> None:
    """The odd half only, its name cut off; baselines first, tests in their order, 9 before 10."""
    rows = [
        line(system=system, test=f"{half}{test}", n="7")
        for half in ("", "odd/")
        for test in ("annotations", "typos")
        for system in ("10", "9", "ngram")
    ]
    heading, made = Table("t", test="odd/(?P<test>.*)", ends=False).parts(rows, [], {})
    assert heading == "### sample: t"
    assert made.splitlines() == [
        "| system | typos | annotations |",
        "| --- | --- | --- |",
        "| ngram | 0.532 | 0.532 |",
        "| 9 | 0.532 | 0.532 |",
        "| 10 | 0.532 | 0.532 |",
    ]
    assert not list(Table("t", metric="none").parts(rows, [], {}))


def test_means_stand_for_seeds() -> None:
    seeds = [line(), line(seed="2"), line(seed="", value="0.6"), line(system="2")]
    assert over_seeds(seeds) == seeds[2:]


def test_a_study_is_its_folder() -> None:
    """One new folder is measured, kept and rendered; nothing else names it."""
    folders = {path.name for path in STUDIES.iterdir() if path.is_dir()}
    assert {one.name for one in studies()} == folders - {"__pycache__"}
    for path in STUDIES.parent.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not {one.name for one in studies() if f"studies.{one.name}" in text}, path.name
    with pytest.raises(ValueError, match="choose attention, "):
        study("none")


@pytest.mark.parametrize("one", studies(), ids=lambda one: one.name)
def test_every_study_says_what_is_needed(one: Study) -> None:
    config = one.config
    assert config["question"].endswith("?")
    assert callable(one.measuring.measure)
    assert vars(parser(one).parse_args([])).keys() >= {
        name.replace("-", "_") for name in config.get("options", {})
    }
    assert [Table(**table) for table in config["tables"]]


@pytest.mark.parametrize("one", studies(), ids=lambda one: one.name)
def test_every_page_opens_with_its_subject_and_a_bold_claim(one: Study) -> None:
    text = (ROOT / render.PAGES / f"{one.name}.md").read_text(encoding="utf-8")
    title, claim = text.split("\n\n")[:2]
    assert title.startswith(f"# {one.name}: ")
    assert claim.startswith("**")
    assert f"](results/{one.name}.md)" in (ROOT / "docs/RESULTS.md").read_text(encoding="utf-8")


def test_a_page_has_its_tables_and_how_they_were_measured(tmp_path: Path) -> None:
    rows = [
        Row("typos", "typos", "success_at_1", 0.53218, 300, 0.5, 0.56, 1),
        Row("ngram", "typos", "success_at_1", 0.25, 300, 0.2, 0.3),
    ]
    replace_rows("table3", "sample", rows, RUN, tmp_path)
    made = render.pages(tmp_path, ROOT / render.PAGES)
    assert set(made) == {render.PAGES / "table3.md", render.PAGES / "table3.svg"}
    for row in (
        "| ngram | 0.250 | 0.99 |",
        "| typos (1) | 0.532 | 0.99 |",
        "Measured (sample): 2026-01-02, commit `abc1234`, m, `c`",
    ):
        assert row in made[render.PAGES / "table3.md"].splitlines(), row


def test_plots_are_the_same_bytes_without_date_or_background() -> None:
    panels = {"a": [("one", [0.1, None, 0.3])], "b": [("one", [1.0, 2.0, 3.0])]}
    points = {"x": [("g", 1.0, 0.5), ("h", 100.0, 0.7)]}
    for draw in (
        lambda whole: curves(whole, [1.0, 2.0, 3.0], panels, "steps", "score"),
        lambda whole: scatters(whole, points, "score"),
    ):
        first = svg("name", draw)
        assert first == svg("name", draw)
        assert first.startswith("<?xml") and "<svg" in first
        assert "dc:date" not in first and "#ffffff" not in first and "#000000" not in first
        assert ">score<" in first


def test_only_what_is_between_the_markers_changes() -> None:
    text = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    once = between_markers(text, "table", "new")
    assert once == f"before\n{BEGIN}\nnew\n{END}\nafter\n"
    assert between_markers(once, "table", "new") == once


@pytest.mark.parametrize("text", ["", BEGIN, END + BEGIN, 2 * (BEGIN + END)])
def test_missing_or_repeated_markers_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="once each"):
        between_markers(text, "table", "new")


def test_the_readme_has_the_answers_and_the_benchmark() -> None:
    names = ("answers", "benchmark")
    text = "".join(f"\n<!-- {name}:begin --><!-- {name}:end -->" for name in names)
    answers, made = readme(text, ROOT / "results").split("<!-- benchmark:begin -->")
    assert "| title | occupation | code | confidence |" in answers
    lines = made.strip().splitlines()
    assert "titles/s" in lines[0] and lines[2].startswith("| Rolecall ")


def test_the_committed_pages_are_what_the_files_render_to() -> None:
    made = render.pages(ROOT / "results", ROOT / render.PAGES)
    for path, text in made.items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, path
    assert {ROOT / path for path in made} == set((ROOT / render.PAGES).iterdir())
