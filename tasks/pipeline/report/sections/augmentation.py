"""Augmentation: pairs by source, the counts of each rule, and examples to judge by eye.

The stages of synonyms and of extra words run for every mix, because every model answers their
tests; the pairs are those that this model has learned from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from models.reproducibility.seeding import generator
from tasks.pipeline.report.markup import Html, NumberHead, lines, paragraph, table
from tasks.pipeline.report.names import count, in_order, percent
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
AGREEMENT = {True: "agrees", False: "differs", None: "none"}
EXAMPLES = 8


def augmentation(report_data: ReportData) -> Html:
    """Make the content of section `augmentation`."""
    synonyms, seed = report_data.stage_metrics["synonyms"], report_data.params.seed
    mined = report_data.extra_words_variants.filter(kind="mined")
    return lines(
        paragraph(
            "Each mix adds pairs of one source to those of the mix before, and a test that "
            "probes for it. Read the examples: a wrong one is learned like a right one."
        ),
        _pairs(report_data.stage_metrics["pairs"]),
        _rules(
            "Synonyms by induction: candidates and why they fall", INDUCTION, synonyms["induction"]
        ),
        _rules("Titles with a synonym put in", TITLES, synonyms["titles"]["all"]),
        _examples(
            "Titles with a synonym put in, drawn at random",
            ("Title", "Generated", "Exchanged", "Synonym"),
            report_data.synonym_variants.select("title", "variant", "phrase", "kind"),
            seed,
        ),
        _rules("Inputs with extra words", MINED, report_data.stage_metrics["extra_words"]["mined"]),
        _examples(
            "Mined inputs, drawn at random",
            ("Title", "Input", "Its label"),
            mined.select("title", "variant", pl.col("label_agrees").replace_strict(AGREEMENT)),
            seed,
        ),
    )


def _pairs(counts: dict[str, dict[str, int]]) -> Html:
    similar, dissimilar = counts["similar"], counts["dissimilar"]
    total = max(1, sum(similar.values()))
    rows = [
        (
            SOURCES.get(source, source),
            count(similar.get(source, 0)),
            percent(similar.get(source, 0) / total),
            count(dissimilar.get(source, 0)),
        )
        for source in in_order({*similar, *dissimilar}, SOURCES)
    ]
    head = ("Pairs", NumberHead("Similar"), NumberHead("of these"), NumberHead("Dissimilar"))
    return table("Pairs that this model has learned from, by source", head, rows)


def _rules(caption: str, meaning: Mapping[str, str], counts: Mapping[str, int]) -> Html:
    rows = [(words, count(counts[name])) for name, words in meaning.items()]
    return table(caption, ("Rule", NumberHead("Count")), rows)


def _examples(caption: str, head: Sequence[str], rows: pl.DataFrame, seed: int) -> Html:
    if rows.is_empty():
        return paragraph(f"{caption}: there are none.")
    drawn = generator(seed, "report", caption).permutation(rows.height)[:EXAMPLES]
    return table(caption, head, rows[sorted(drawn.tolist())].iter_rows())
