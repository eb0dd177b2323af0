"""Augmentation: pairs by source, the counts of each rule, and examples to judge by eye.

The stages of synonyms and of extra words run for every mix, because every model answers their
tests; the pairs are those that this model has learned from.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from models.reproducibility.seeding import generator
from tasks.pipeline.report.markup import Html, number, number_head, paragraph, section, table
from tasks.pipeline.report.names import count, percent
from tasks.pipeline.report.report_data import ReportData

SOURCES = {
    "base": "aliases of one occupation",
    "typo": "a title and a misspelling of it",
    "synonym": "a title and the same with a synonym put in",
    "extra_words": "a title and a real input that holds it",
    "feedback": "an input that people judged and a title",
}
INDUCTION = {
    "candidates": "complements of two titles that share their first or last words",
    "isolated": "a phrase is a title of the taxonomy itself",
    "special_characters": "a phrase holds more than letters, digits and spaces",
    "too_long": "a phrase has too many words",
}
TITLES = {
    "generated": "made by exchanging accepted phrases",
    "is_a_title": "left out: a title of the taxonomy",
    "is_a_query": "left out: a query of an earlier test",
    "kept": "kept, for training and for the Composition queries",
}
MINED = {
    "inputs": "inputs that may be mined",
    "distinct": "distinct ones",
    "hold_a_title": "hold a title of the taxonomy",
    "hold_it_strictly": "hold it and more",
    "is_a_title": "left out: a title of the taxonomy",
    "is_an_earlier_query": "left out: a query of an earlier test",
    "is_an_earlier_variant": "left out: trained on in an earlier mix",
    "disagrees": "left out: the n-gram matcher names another occupation",
    "ambiguous": "left out: the n-gram matcher names several",
    "agrees": "mined",
}
EXAMPLES = 8


def augmentation(report_data: ReportData) -> Html:
    """Make section `augmentation`."""
    made = report_data.made
    titles = made["synonyms"]["titles"]
    mined = report_data.extra_words_variants.filter(pl.col("kind") == "mined")
    return section(
        "augmentation",
        "Augmentation",
        paragraph(
            "Each mix adds pairs of one source to those of the mix before, and a test that "
            "probes for it. Read the examples: a wrong one is learned like a right one."
        ),
        _pairs(made["pairs"]),
        _rules("Synonyms by induction: candidates and why they fall", INDUCTION, _induced(made)),
        _rules("Titles with a synonym put in", TITLES, titles["all"]),
        _examples(
            "Titles with a synonym put in, drawn at random",
            ("Title", "Generated", "Exchanged", "Synonym"),
            report_data.synonym_variants.select("title", "variant", "phrase", "kind"),
            report_data.params.seed,
        ),
        _rules("Inputs with extra words", MINED, made["extra_words"]["mined"]),
        _examples(
            "Mined inputs, drawn at random",
            ("Title", "Input", "Its label"),
            mined.select("title", "variant", _label_agreement()),
            report_data.params.seed,
        ),
    )


def _pairs(counts: dict[str, dict[str, int]]) -> Html:
    similar, dissimilar = counts["similar"], counts["dissimilar"]
    total = max(1, sum(similar.values()))
    rows = [
        (
            SOURCES.get(source, source),
            number(count(similar.get(source, 0))),
            number(percent(similar.get(source, 0) / total)),
            number(count(dissimilar.get(source, 0))),
        )
        for source in [*SOURCES, *sorted({*similar, *dissimilar} - {*SOURCES})]
        if source in similar or source in dissimilar
    ]
    head = ("Pairs", number_head("Similar"), number_head("of these"), number_head("Dissimilar"))
    return table("Pairs that this model has learned from, by source", head, rows)


def _induced(made: dict[str, dict[str, dict[str, int]]]) -> dict[str, int]:
    return {name: made["synonyms"]["induction"][name] for name in INDUCTION}


def _rules(caption: str, meaning: dict[str, str], counts: dict[str, int]) -> Html:
    rows = [(words, number(count(counts[name]))) for name, words in meaning.items()]
    return table(caption, ("Rule", number_head("Count")), rows)


def _examples(caption: str, head: Sequence[str], rows: pl.DataFrame, seed: int) -> Html:
    if rows.is_empty():
        return paragraph(f"{caption}: there are none.")
    drawn = generator(seed, "report", caption).permutation(rows.height)[:EXAMPLES]
    return table(caption, head, rows[sorted(drawn.tolist())].iter_rows())


def _label_agreement() -> pl.Expr:
    agrees = pl.col("label_agrees")
    words = pl.when(agrees).then(pl.lit("agrees")).when(~agrees).then(pl.lit("differs"))
    return words.otherwise(pl.lit("none")).alias("label")
