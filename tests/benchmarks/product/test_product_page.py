"""The file keeps other data sets; tables and the README's block show what was measured."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from benchmarks.product.figures import Figure
from benchmarks.product.page import FILE, lines_of, readme_block, replace, table

ROOT = Path(__file__).parents[3]
RUN = {
    "model": "models:/rolecall/3",
    "commit": "c0ffee",
    "date": "2026-01-02",
    "command": "make benchmark",
    "machine": "AMD, 2 cores",
}
FIGURES = [
    Figure("rolecall", "annotations", "success_at_1", 2 / 3, 525, 0.5, 0.75),
    Figure("rolecall", "annotations", "success_at_10", 0.9, 525, 0.8, 0.95),
    Figure("rolecall", "annotations", "abstained", 0.0, 525, 0.0, 0.0),
    Figure("rolecall", "annotations", "confident", 0.4, 525, 0.3, 0.5),
    Figure("rolecall", "annotations", "confident_right", 0.975, 210, 0.95, 1.0),
    Figure("rolecall", "typos", "success_at_1", 1.0, 9, 1.0, 1.0),
    Figure("rolecall", "cost", "titles_per_second", 2101.4, 5, 1500.0, 2600.0),
    Figure("rolecall", "cost", "megabytes", 10.65, 1),
    Figure("tfidf", "annotations", "success_at_1", 0.6, 525, 0.55, 0.65),
]


def test_a_table_a_test_with_a_column_a_metric() -> None:
    lines = lines_of("sample", FIGURES, RUN)
    annotations, typos, cost = table(lines).split("\n\n")
    head, _, ours, theirs = annotations.splitlines()
    assert [cell.strip() for cell in head.split("|")[1:-1]] == [
        *("annotations", "success_at_1", "success_at_10", "abstained"),
        *("confident", "confident_right"),
    ]
    assert "| rolecall    | 0.667 [0.500, 0.750] | 0.900 [0.800, 0.950]" in ours
    assert theirs.startswith("| tfidf       | 0.600 [0.550, 0.650] |")
    assert "| rolecall | 1.000 [1.000, 1.000] |" in typos
    assert "| rolecall | 2101 [1500, 2600]" in cost and "| 10.65     |" in cost


def test_other_data_sets_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "product.csv"
    replace(lines_of("taxonomies", FIGURES, RUN), file)
    replace(lines_of("sample", FIGURES, RUN), file)
    once = file.read_bytes()
    replace(lines_of("sample", FIGURES[:1], RUN), file)
    made = pl.read_csv(file, infer_schema=False)
    assert made["dataset"].to_list() == ["sample"] + ["taxonomies"] * len(FIGURES)
    assert made.row(0) == (
        *("sample", "rolecall", "annotations", "success_at_1", "0.6667", "525", "0.5000"),
        *("0.7500", *RUN.values()),
    )
    replace(lines_of("sample", FIGURES, RUN), file)
    assert file.read_bytes() == once


def test_the_readme_says_where_its_figures_are_from(tmp_path: Path) -> None:
    file = tmp_path / "product.csv"
    replace(lines_of("sample", FIGURES, RUN), file)
    lines, note = readme_block(file).split("\n\n")
    head, _, ours, theirs = lines.splitlines()
    assert [cell.strip() for cell in head.split("|")[2:-1]] == [
        *("labelled inputs, first answer", "among 10", "no answer", "typing errors"),
        *("titles/s", "MB"),
    ]
    assert [cell.strip() for cell in ours.split("|")[1:-1]] == [
        *("Rolecall", "0.667 [0.500, 0.750]", "0.900", "0.000", "1.000", "2101", "10.65")
    ]
    assert theirs.split("|")[1].strip() == "TF-IDF" and theirs.count("0.600") == 1
    assert "525 labelled inputs" in note and "of 0.400 of them" in note and "for 0.975" in note
    assert all(words in note for words in RUN.values())


def test_the_committed_readme_shows_the_committed_figures() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"<!-- benchmark:begin -->\n{readme_block(ROOT / FILE)}\n<!-- benchmark:end" in text
