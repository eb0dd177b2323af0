"""Tables and the README's block show the committed figures and their provenance."""

from __future__ import annotations

from pathlib import Path

from benchmarks.product.page import readme_block, table
from benchmarks.results import Row, Run, read_rows, replace_rows

ROOT = Path(__file__).parents[3]
RUN = Run("c0ffee", "2026-01-02", "AMD, 2 cores", "make benchmark  # models:/rolecall/3")
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


def test_a_table_a_test_with_a_column_a_metric(tmp_path: Path) -> None:
    replace_rows("product", "sample", FIGURES, RUN, tmp_path)
    annotations, cost, typos = table(read_rows(tmp_path / "product.csv")).split("\n\n")
    head, _, ours, theirs = annotations.splitlines()
    assert [cell.strip() for cell in head.split("|")[1:-1]] == [
        *("annotations", "abstained", "confident", "confident_correct"),
        *("success_at_1", "success_at_10"),
    ]
    assert "| 0.667 [0.500, 0.750] | 0.900 [0.800, 0.950] |" in ours
    assert "| 0.600 [0.550, 0.650] |" in theirs
    assert "| rolecall | 1.000 [1.000, 1.000] |" in typos
    assert "| 2101 [1500, 2600] |" in cost and "| 10.65     |" in cost


def test_the_readme_has_the_provenance_in_one_line(tmp_path: Path) -> None:
    replace_rows("product", "sample", FIGURES, RUN, tmp_path)
    lines, note, provenance = readme_block(tmp_path).split("\n\n")
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
    assert "\n" not in provenance and all(words in provenance for words in RUN)


def test_the_committed_readme_shows_the_committed_figures() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = readme_block(ROOT / "results")
    assert f"<!-- benchmark:begin -->\n{block}\n<!-- benchmark:end" in text


def test_a_system_of_another_run_is_left_out(tmp_path: Path) -> None:
    """Measure all, then all but one: the speed of that one is of another day."""
    replace_rows("product", "sample", FIGURES, RUN, tmp_path)
    ours = [row for row in FIGURES if row.system == "rolecall"]
    replace_rows("product", "sample", ours, RUN._replace(commit="decade"), tmp_path)
    lines, _, provenance = readme_block(tmp_path).split("\n\n")
    assert "Rolecall" in lines and "TF-IDF" not in lines
    assert "commit decade" in provenance
    assert {row["system"] for row in read_rows(tmp_path / "product.csv")} == {"rolecall", "tfidf"}
