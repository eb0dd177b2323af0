"""Pages: tables by hand, markers, and that what is committed is what the files render to."""

from pathlib import Path

import pytest

from benchmarks import render
from benchmarks.__main__ import parser
from benchmarks.plots import curves, scatters, svg
from benchmarks.render import between_markers, product_table, readme, readme_block
from benchmarks.results import BEST_STEP, Line, Row, Run, read_rows, replace_rows
from benchmarks.study import STUDIES, Study, studies, study
from benchmarks.tables import MARK, UNLEARNED, Table, figure, marked

ROOT = Path(__file__).parents[2]
BEGIN, END = "<!-- table:begin -->", "<!-- table:end -->"
MADE = Run("c0ffee", "2026-01-02", "AMD, 2 cores", "make benchmark  # models:/rolecall/3")
FIGURES = [
    Row("rolecall", "annotations", "success_at_1", 2 / 3, 525, 0.5, 0.75),
    Row("rolecall", "annotations", "success_at_10", 0.9, 525, 0.8, 0.95),
    Row("rolecall", "annotations", "abstained", 0.0, 525, 0.0, 0.0),
    Row("rolecall", "annotations", "confident", 0.4, 525, 0.3, 0.5),
    Row("rolecall", "annotations", "confident_correct", 0.975, 210, 0.95, 1.0),
    Row("rolecall", "typos", "success_at_1", 1.0, 9, 1.0, 1.0),
    Row("rolecall", "cost", "titles_per_second", 2101.4, 5, 1500.0, 2600.0),
    Row("rolecall", "cost", "megabytes", 10.65, 1),
    Row("tfidf", "annotations", "success_at_1", 0.6, 525, 0.55, 0.65),
]


def line(**changes: str) -> Line:
    values = {"dataset": "sample", "system": "1", "test": "typos", "metric": "success_at_1"}
    values |= {"value": "0.53218", "low": "0.5", "high": "0.56", "n": "300", "seed": "1"}
    return values | {"run": "table3-1"} | changes


def test_figures_and_escapes() -> None:
    assert figure(line(metric="peak_mib", value="1234.5", low="", high="")) == "1,234.5"
    assert figure(line()) == "0.532 [0.500, 0.560]"
    assert figure(line(), ends=False) == "0.532"


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
    tests = ("annotations", "typos", "odd/annotations", "odd/typos")
    rows = [line(system=own, test=test) for test in tests for own in ("10", "9", "ngram")]
    heading, made = Table("t", test="odd/(?P<test>.*)", ends=False).parts(rows, [], {})
    assert heading == "### sample: t" and made.splitlines() == [
        "| system | typos | annotations |",
        "| --- | --- | --- |",
        "| ngram | 0.532 | 0.532 |",
        "| 9 | 0.532 | 0.532 |",
        "| 10 | 0.532 | 0.532 |",
    ]
    assert not list(Table("t", metric="none").parts(rows, [], {}))


def test_a_study_is_its_module_and_its_yaml() -> None:
    """A new study is measured, kept and rendered; nothing else names it."""
    assert {one.name for one in studies()} <= {path.stem for path in STUDIES.glob("*.py")}
    for path in STUDIES.parent.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not {one.name for one in studies() if f"studies.{one.name}" in text}, path.name
    with pytest.raises(ValueError, match="choose attention, "):
        study("none")


@pytest.mark.parametrize("one", studies(), ids=lambda one: one.name)
def test_every_study_says_what_is_needed_and_its_page_opens_with_a_bold_claim(one: Study) -> None:
    config = one.config
    assert config["question"].endswith("?") and callable(one.measuring.measure)
    options = {name.replace("-", "_") for name in config.get("options", {})}
    assert vars(parser(one).parse_args([])).keys() >= options
    assert [Table(**table) for table in config["tables"]]
    text = (ROOT / render.PAGES / f"{one.name}.md").read_text(encoding="utf-8")
    title, claim = text.split("\n\n")[:2]
    assert title.startswith(f"# {one.name}: ") and claim.startswith("**")
    assert f"](results/{one.name}.md)" in (ROOT / "docs/RESULTS.md").read_text(encoding="utf-8")


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
    for missing in ("", BEGIN, END + BEGIN, 2 * (BEGIN + END)):
        with pytest.raises(ValueError, match="once each"):
            between_markers(missing, "table", "new")


def test_the_readme_has_the_answers_and_the_benchmark() -> None:
    text = "".join(f"\n<!-- {own}:begin --><!-- {own}:end -->" for own in ("answers", "benchmark"))
    answers, made = readme(text, ROOT / "results").split("<!-- benchmark:begin -->")
    assert "| title | occupation | code | confidence |" in answers
    lines = made.strip().splitlines()
    assert "titles/s" in lines[0] and lines[2].startswith("| Rolecall ")


def test_the_committed_pages_are_what_the_files_render_to() -> None:
    made = render.pages(ROOT / "results", ROOT / render.PAGES)
    for path, text in made.items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, path
    assert {ROOT / path for path in made} == set((ROOT / render.PAGES).iterdir())


def learned_line(system: str, seed: str, **changes: str) -> Line:
    return line(system=system, seed=seed, **{"value": "0.5", "low": "0.4", "high": "0.6"} | changes)


def step(system: str, seed: str, value: str) -> Line:
    own = {"test": "training", "metric": BEST_STEP, "low": "", "high": "", "n": "1"}
    return line(system=system, seed=seed, value=value, **own)


def test_seeds_means_and_comparisons() -> None:
    """Of a no seed learned, of b seed 2 did not, c is whole; d was measured before this was.

    Another form of a system is a network of its own.
    """
    steps = [step("a", "1", "0"), step("a", "2", "0"), step("b", "1", "50"), step("b", "2", "0")]
    steps.append(step("c", "1", "50"))
    rows = [("a", "1"), ("a", ""), ("b", "1"), ("b", "2"), ("b", "")]
    rows += [(system, "") for system in ("c", "c-a", "c-b", "d", "a/smaller")]
    several = [*steps, *(learned_line(*row) for row in rows)]
    marks = [row[MARK] for row in marked([*several, learned_line("a", "", dataset="esco")])]
    partly = f"seed 2 {UNLEARNED}"
    expected = [UNLEARNED, UNLEARNED, "", UNLEARNED, partly, "", UNLEARNED, partly, "", "", ""]
    assert marks[len(steps) :] == expected


def test_a_figure_is_not_shown_but_what_training_cost_is() -> None:
    assert figure({**learned_line("a", ""), MARK: UNLEARNED}) == UNLEARNED
    assert figure({**learned_line("a", ""), MARK: "seed 2 did not learn"}) == (
        "0.500 [0.400, 0.600] (seed 2 did not learn)"
    )
    cost = learned_line("a", "", metric="seconds", value="12.3", low="", high="")
    assert figure({**cost, MARK: UNLEARNED}) == "12.3"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    replace_rows("product", "sample", FIGURES, MADE, tmp_path)
    return tmp_path


def test_a_table_a_test_with_a_column_a_metric(results: Path) -> None:
    annotations, cost, typos = product_table(read_rows(results / "product.csv")).split("\n\n")
    head, _, ours, theirs = annotations.splitlines()
    metrics = ["abstained", "confident", "confident_correct", "success_at_1", "success_at_10"]
    assert head.replace("|", "").split() == ["annotations", *metrics]
    assert "| 0.667 [0.500, 0.750] | 0.900 [0.800, 0.950] |" in ours
    assert "| 0.600 [0.550, 0.650] |" in theirs
    assert "| rolecall | 1.000 [1.000, 1.000] |" in typos
    assert "| 2101 [1500, 2600] |" in cost and "| 10.65     |" in cost


def test_the_readme_has_the_provenance_in_one_line(results: Path) -> None:
    lines, note, provenance = readme_block(results).split("\n\n")
    head, _, ours, theirs = lines.splitlines()
    assert [cell.strip() for cell in head.split("|")[2:-1]] == [
        *("labelled inputs, first answer", "among 10", "abstained", "typing errors"),
        *("titles/s", "MB"),
    ]
    assert [cell.strip() for cell in ours.split("|")[1:-1]] == [
        *("Rolecall", "0.667 [0.500, 0.750]", "0.900", "0.000", "1.000", "2101", "10.65")
    ]
    assert theirs.split("|")[1].strip() == "TF-IDF" and theirs.count("0.600") == 1
    assert all(words in note for words in ("525 labelled inputs", "for 0.400 of", "and 0.975 of"))
    assert "\n" not in provenance and all(words in provenance for words in MADE)


def test_a_system_of_another_run_is_left_out(results: Path) -> None:
    """Measure all, then all but one: the speed of that one is of another day."""
    ours = [row for row in FIGURES if row.system == "rolecall"]
    replace_rows("product", "sample", ours, MADE._replace(commit="decade"), results)
    lines, _, provenance = readme_block(results).split("\n\n")
    assert "Rolecall" in lines and "TF-IDF" not in lines and "commit decade" in provenance
    assert {row["system"] for row in read_rows(results / "product.csv")} == {"rolecall", "tfidf"}
