"""Pages: tables by hand, names, markers, and that what is committed is what the files render to."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import render
from benchmarks.__main__ import parser
from benchmarks.pages.page_tables import Table, over_seeds, with_lexical
from benchmarks.pages.plots import curves, scatters, svg
from benchmarks.pages.said import said
from benchmarks.pages.tables import figure, markdown, pivot
from benchmarks.pages.training import training
from benchmarks.pages.trials import ends, trials
from benchmarks.results import Line, Row, Run, read_results, replace_rows
from benchmarks.study import HERE, Study, studies, study

ROOT = Path(__file__).parents[2]
BEGIN, END = "<!-- table:begin -->", "<!-- table:end -->"
RUN = Run("m", "c")


def line(**changes: str) -> Line:
    values = {"dataset": "sample", "system": "1", "test": "typos", "metric": "success_at_1"}
    values |= {"value": "0.53218", "low": "0.5", "high": "0.56", "n": "300", "seed": "1"}
    return values | {"run": "table3-1"} | changes


def test_pivot_and_escapes() -> None:
    first = line(metric="peak_mib", value="1234.5", low="", high="", n="3")
    other = line(value="1", low="", high="", n="4")
    assert figure(first) == "1,234.5"
    assert pivot([first, other], ("system",), "metric", ("n",)).splitlines() == [
        "| system | peak_mib | success_at_1 | n |",
        "| --- | --- | --- | --- |",
        "| 1 | 1,234.5 | 1.000 | 3, 4 |",
    ]
    beside = {"success_at_1": {"1": 0.99}}
    assert pivot([other], ("system",), "metric", beside=beside).splitlines()[0::2] == [
        "| system | success_at_1 | paper |",
        "| 1 | 1.000 | 0.99 |",
    ]
    assert markdown(("a|b",), [("c",)]) == "| a\\|b |\n| --- |\n| c |"


def test_a_table_chooses_names_and_orders_rows() -> None:
    """Own index only, its name cut off; baselines first, tests as in every table, 9 before 10."""
    rows = [
        line(system=system, test=f"{index}{test}", n="7")
        for index in ("", "own_index/")
        for test in ("annotations", "typos")
        for system in ("10", "9", "ngram")
    ]
    table = Table(title="t", test="own_index/(?P<test>.*)", ends=False, counts=True)
    heading, _, made, counts = table.parts(study("table3"), {"table3": rows})
    assert heading == "### sample: t"
    assert made.splitlines() == [
        "| system | typos | annotations |",
        "| --- | --- | --- |",
        "| ngram | 0.532 | 0.532 |",
        "| 9 | 0.532 | 0.532 |",
        "| 10 | 0.532 | 0.532 |",
    ]
    assert counts == "Queries: annotations 7, typos 7."
    assert not list(Table(metric="none").parts(study("table3"), {"table3": rows}))


def test_columns_of_several_tests_and_metrics() -> None:
    rows = [line(), line(test="training", metric="megabytes", value="12.5", low="", high="")]
    table = Table(columns={"MB": "training megabytes", "typos": "typos success_at_1"})
    _, made = table.parts(study("zoo"), {"zoo": rows})
    assert made.splitlines()[0::2] == [
        "| system | MB | typos |",
        "| 1 | 12.5 | 0.532 [0.500, 0.560] |",
    ]


def test_means_stand_for_seeds() -> None:
    seeds = [line(), line(seed="2"), line(seed="", value="0.6"), line(system="2")]
    assert over_seeds(seeds) == seeds[2:]


def test_lexical_systems_are_those_that_answered_the_same_queries() -> None:
    """A data set without them takes those of one whose tests are as large, of no other."""
    own = [line(dataset="paper", system="4")]
    rows = [line(system="tfidf", n="8"), line(dataset="esco", system="tfidf"), *own]
    assert [(row["dataset"], row["system"]) for row in with_lexical(rows, "paper", own)] == [
        ("paper", "4"),
        ("paper", "tfidf"),
    ]
    assert with_lexical(rows[:1], "paper", own) == []
    assert with_lexical(rows, "sample", own) == rows[:1]


def test_trials_say_which_was_taken() -> None:
    rows = [
        line(test=f"trial:{name}", metric=metric, value=value, low="", high="", n="9")
        for name, score, taken in (("a=1", "0.2", "0"), ("a=2", "0.4", "1"))
        for metric, value in (("valid_pearson", score), ("chosen", taken))
    ]
    heading, made = trials(rows)
    assert heading == "### Trials"
    assert made.splitlines()[2:] == [
        "| sample | 1 | a=1 | 0.200 | 9 |  |",
        "| sample | 1 | a=2 | 0.400 | 9 | yes |",
    ]
    assert not list(trials([line()]))


def test_training_says_who_was_best_at_the_end() -> None:
    rows = [
        line(system=system, test="training", metric=metric, value=value, seed=seed)
        for system, seed, best, last in (("a", "1", "50", "100"), ("a", "2", "90", "90"))
        for metric, value in (("best_step", best), ("last_step", last))
    ]
    *_, made = training(rows)
    assert made.splitlines()[2:] == ["| sample | a | 50, 90 | 100, 90 | best at its end: seed 2 |"]
    assert not list(training([line()]))


def test_trials_say_where_a_grid_ends() -> None:
    """Of two values any is an end, and words have none."""
    tried = [
        f"rate={rate},dim={dim},how={how}"
        for rate, dim, how in zip("123", "595", "abc", strict=True)
    ]
    assert ends(tried, "rate=1,dim=5,how=a") == ["rate"]
    assert ends(tried, "rate=2,dim=9,how=c") == []
    assert ends([*tried, "rate=10,dim=7,how=a"], "rate=10,dim=9,how=a") == ["rate", "dim"]


def test_names_are_explained_or_refused() -> None:
    rows = [line(test="typos/size:16+"), line(test="trial:a=1,b"), line(system="2-1")]
    known = {name for _, name, _ in study("table3").meanings(rows)}
    assert {"sample", "typos", "size:16+", "trial:<text>", "1", "2", "a-b"} <= known
    for bad in (line(test="typos/big"), line(system="nobody"), line(metric="luck")):
        with pytest.raises(ValueError, match="has no meaning in study"):
            list(study("table3").meanings([bad]))
    sizes = [line(system="rolecall", test="pairs_1.25m", metric="seconds")]
    assert ("test", "pairs_<number>m") in {name[:2] for name in study("speed").meanings(sizes)}


def test_a_study_is_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One new folder is measured, kept and rendered; nothing else names it."""
    folders = {path.name for path in (HERE / "studies").iterdir() if path.is_dir()}
    assert {one.name for one in studies()} == folders - {"__pycache__"}
    for path in HERE.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        named = {one.name for one in studies() if f"studies.{one.name}" in text}
        assert not named, f"{path.name} names {named}"
    with pytest.raises(ValueError, match="choose table3, "):
        study("none")


@pytest.mark.parametrize("one", studies(), ids=lambda one: one.name)
def test_every_face_says_what_is_needed(one: Study) -> None:
    face = one.face
    assert face["question"].endswith("?")
    assert "**" in face["answer"]
    assert face["replaces"] in ("dataset", "system")
    assert callable(one.measuring.measure)
    assert set(face.get("options", {})) <= {
        name.replace("_", "-") for name in vars(parser(one).parse_args([]))
    }
    for table in [*face.get("summary", []), *face.get("tables", [])]:
        Table(**table)


def test_page_has_question_answer_figures_and_how_they_were_measured(tmp_path: Path) -> None:
    rows = [
        Row("1", "typos", "success_at_1", 0.53218, 300, 0.5, 0.56, 1),
        Row("ngram", "typos", "success_at_1", 0.25, 300, 0.2, 0.3),
        Row("1", "typos/size:1", "success_at_1", 0.5, 20, 0.4, 0.6, 1),
        Row("every_mix", "training", "steps", 1200, 1),
    ]
    replace_rows("table3", "sample", rows, RUN, tmp_path)
    made = render.pages(tmp_path)
    page = made[render.PAGE]
    face = study("table3").face
    answer = said(face["answer"], "table3", read_results(tmp_path))
    link = "[All of `table3`](results/table3.md)"
    assert f"\n## {face['question']}\n\n{answer} {link} *Stale: sample.*\n\n![" in page
    assert "speed" not in page
    whole = made[render.WHOLE / "table3.md"]
    for wanted in (
        "| ngram | 0.250 [0.200, 0.300] | 0.99 |",
        "| 1 | 0.532 [0.500, 0.560] | 0.99 |",
        "| typos/size:1 | 0.500 [0.400, 0.600] | 20 |",
        "| sample: every_mix, 1, ngram | `c` | m | not recorded |",
        "| test | `typos` |",
    ):
        assert wanted in whole, wanted
    assert made == render.pages(tmp_path)


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
    once = render.between_markers(text, "table", "new")
    assert once == f"before\n{BEGIN}\nnew\n{END}\nafter\n"
    assert render.between_markers(once, "table", "new") == once


@pytest.mark.parametrize("text", ["", BEGIN, END + BEGIN, 2 * (BEGIN + END)])
def test_missing_or_repeated_markers_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="once each"):
        render.between_markers(text, "table", "new")


def test_the_readme_has_the_benchmark_the_answer_and_the_stages() -> None:
    names = ("answers", "benchmark", "answer", "stages")
    text = "".join(f"<!-- {name}:begin --><!-- {name}:end -->" for name in names)
    text = text.replace("<!-- benchmark", "\n<!-- benchmark")
    made = render.readme(text, ROOT / "results", ROOT / "dvc.yaml").split("benchmark:begin -->")[1]
    made = ["", *made.strip().splitlines()]
    assert "titles/s" in made[1] and made[3].startswith("| Rolecall ")
    assert any(row.startswith("| `ingest` | ") for row in made)
    assert "| `cut` | yes/no | whether the title was longer than the network reads |" in made
    assert any(row.startswith("| `score` | number, may be null | ") for row in made)
    assert any(row.startswith("| `top_scores` | list of numbers | ") for row in made)


def test_the_committed_pages_are_what_the_files_render_to() -> None:
    made = render.pages(ROOT / "results")
    for path, text in made.items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, path
    assert {ROOT / path for path in made} >= set((ROOT / render.WHOLE).iterdir())
    assert made[render.PAGE].count("\n") <= 150


def test_every_name_in_the_results_is_explained() -> None:
    for name, rows in read_results(ROOT / "results").items():
        assert list(study(name).meanings(rows))
