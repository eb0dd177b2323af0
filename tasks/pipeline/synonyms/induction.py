"""Synonyms by induction: the different words of two titles of one occupation that share the others.

"C++ developer" and "C++ programmer" share one word; the complements, "developer" and "programmer",
are a candidate in this occupation (Neculoiu et al. 2016, section 4.2, point 2). Precisely: two
titles, as normalized words, share n words (as often as both have them), 1 to `max_shared_words`,
which are the first n of both titles or the last n of both. So both complements are one run of words
in the same place of the same context; neither is empty, and they share no word. A candidate passes
if neither phrase is a title of the taxonomy ("occurs in isolation"), both consist of letters,
digits and spaces, and both have at most `max_part_words` words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from tasks.pipeline.synonyms.params import SynonymsParams

RULES = ("isolated", "special_characters", "too_long")
"""Why a candidate does not pass, in this order; only the first reason is counted."""


class Induction(NamedTuple):
    """Pairs that pass, and counts.

    `passed` has schema `SYNONYMS` without `kind`, phrase < replacement, sorted; `contexts` counts
    the different shared words that make the pair in this occupation. `counts` has `candidates` and
    each of `RULES`.
    """

    passed: pl.DataFrame
    counts: dict[str, int]


def induce(titles: pl.DataFrame, taxonomy: set[str], params: SynonymsParams) -> Induction:
    """Find candidates of every occupation, whatever their contexts.

    `titles` has the columns `occupation_id, normalized`, of the training titles; `taxonomy` has the
    normalized titles of all splits.
    """
    pairs = [_paired(remainders) for remainders in _remainders(titles, params.max_shared_words)]
    judged = (
        pl.concat(pairs)
        .group_by("occupation_id", "phrase", "replacement")
        .agg(contexts=pl.col("shared").n_unique())
        .with_columns(verdict=_verdict(taxonomy, params.max_part_words))
    )
    counts = {"candidates": len(judged)}
    counts |= {rule: judged["verdict"].to_list().count(rule) for rule in RULES}
    passed = judged.filter(pl.col("verdict") == "passed").drop("verdict")
    return Induction(passed.sort("occupation_id", "phrase", "replacement"), counts)


def _remainders(titles: pl.DataFrame, max_shared_words: int) -> Iterator[pl.DataFrame]:
    """Yield titles without their first, or last, n words: `occupation_id, shared, phrase`."""
    split = titles.select("occupation_id", words=pl.col("normalized").str.split(" ")).unique()
    words = pl.col("words").list
    for count in range(1, max_shared_words + 1):
        longer = split.filter(words.len() > count)
        for shared, phrase in (
            (words.head(count), words.slice(count)),
            (words.tail(count), words.head(words.len() - count)),
        ):
            yield longer.select(
                "occupation_id", shared=shared.list.join(" "), phrase=phrase.list.join(" ")
            )


def _paired(remainders: pl.DataFrame) -> pl.DataFrame:
    """Pair every two remainders of one group that have no word in common, with `shared`."""
    common = (
        pl.col("phrase").str.split(" ").list.set_intersection(pl.col("replacement").str.split(" "))
    )
    return (
        remainders.lazy()
        .join(remainders.lazy().rename({"phrase": "replacement"}), on=["occupation_id", "shared"])
        .filter(pl.col("phrase") < pl.col("replacement"))
        # a word left in both would be shared too: then the titles share other words than these
        .filter(common.list.len() == 0)
        .collect()
    )


def _verdict(taxonomy: set[str], max_part_words: int) -> pl.Expr:
    """Name the first of `RULES` that one of the phrases fails, or `passed`."""
    phrases = pl.col("phrase", "replacement")
    failed = (
        phrases.is_in(taxonomy),
        phrases.str.contains(r"[^\p{L}\p{M}\p{N} ]"),
        phrases.str.split(" ").list.len() > max_part_words,
    )
    verdicts = [
        pl.when(pl.any_horizontal(fails)).then(pl.lit(rule))
        for rule, fails in zip(RULES, failed, strict=True)
    ]
    return pl.coalesce(*verdicts, pl.lit("passed"))
