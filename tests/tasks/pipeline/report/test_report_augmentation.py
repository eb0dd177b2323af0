"""The section on augmentation: every count stands beside its rule, and titles are escaped."""

from __future__ import annotations

import re

import polars as pl
import pytest

from tasks.pipeline.report.sections.augmentation import (
    EXAMPLES,
    INDUCTION,
    MINED,
    TITLES,
    augmentation,
)

ROW = re.compile(r'<tr><th scope="row">([^<]*)</th>((?:<td[^>]*>.*?</td>)+)</tr>')
CELL = re.compile(r"<td[^>]*>(.*?)</td>")


def tables(page: str) -> dict[str, list[tuple[str, ...]]]:
    """Map each caption to rows of text."""
    return {
        re.search("<caption>(.*?)</caption>", split)[1]: [
            (head, *CELL.findall(cells)) for head, cells in ROW.findall(split)
        ]
        for split in page.split("<table>")[1:]
    }


def test_pairs_by_source_and_their_share(report_data):
    """Show 6 of 10 similar pairs as aliases', 4 as typos'; sources without a row are unnamed."""
    rows = tables(augmentation(report_data))["Pairs that this model has learned from, by source"]
    assert rows == [
        ("aliases of one occupation", "6", "60 %", "37"),
        ("a title and a misspelling of it", "4", "40 %", "3"),
    ]


def test_an_unknown_source_and_one_with_dissimilar_pairs_alone(report_data, change):
    pairs = {"similar": {"base": 1}, "dissimilar": {"feedback": 2, "other": 3}}
    page = augmentation(change(stage_metrics={**report_data.stage_metrics, "pairs": pairs}))
    rows = tables(page)["Pairs that this model has learned from, by source"]
    assert [(row[1], row[-1]) for row in rows] == [("1", "0"), ("0", "2"), ("0", "3")]
    assert rows[-1][0] == "other"


@pytest.mark.parametrize(
    ("caption", "meaning", "place"),
    [
        (
            "Synonyms by induction: candidates and why they fall",
            INDUCTION,
            ("synonyms", "induction"),
        ),
        ("Titles with a synonym put in", TITLES, ("synonyms", "titles", "all")),
        ("Inputs with extra words", MINED, ("extra_words", "mined")),
    ],
)
def test_each_rule_has_its_count(report_data, caption, meaning, place):
    counts = report_data.stage_metrics
    for name in place:
        counts = counts[name]
    wanted = [(reviews, f"{counts[rule]:,}") for rule, reviews in meaning.items()]
    assert tables(augmentation(report_data))[caption] == wanted


def test_every_count_of_the_stages_is_shown(report_data):
    """Fail for a rule that a stage adds and that is not named here."""
    made = report_data.stage_metrics
    assert {*made["synonyms"]["induction"]} - {*INDUCTION} == {"at_min_contexts"}
    assert {*made["synonyms"]["titles"]["all"]} == {*TITLES}
    assert {*made["extra_words"]["mined"]} == {*MINED}


def test_examples_are_escaped_and_padded_titles_are_none(report_data):
    page = augmentation(report_data)
    assert tables(page)["Titles with a synonym put in, drawn at random"][1] == (
        "bread baker",
        "&lt;b&gt;loaf&lt;/b&gt; baker",
        "bread",
        "manual",
    )
    assert tables(page)["Mined inputs, drawn at random"] == [
        ("nurse", "nurse (m/f) &lt;i&gt;urgent&lt;/i&gt;", "agrees"),
        ("programmer", "programmer wanted", "differs"),
        ("ward sister", "ward sister nights", "none"),
    ]


def test_few_of_many_in_order_and_the_same_ones_again(report_data, change):
    many = pl.concat(
        [
            report_data.synonym_variants.head(1).with_columns(variant=pl.lit(f"{n:03}"))
            for n in range(50)
        ]
    )
    more = change(synonym_variants=many)
    drawn = tables(augmentation(more))["Titles with a synonym put in, drawn at random"]
    numbers = [row[1] for row in drawn]
    assert len(numbers) == EXAMPLES
    assert numbers == sorted(numbers) != [f"{n:03}" for n in range(EXAMPLES)]
    assert augmentation(more) == augmentation(more)


def test_nothing_made(report_data, change):
    page = augmentation(
        change(
            synonym_variants=report_data.synonym_variants.clear(),
            extra_words_variants=report_data.extra_words_variants.clear(),
        )
    )
    assert page.count(": there are none.") == 2
