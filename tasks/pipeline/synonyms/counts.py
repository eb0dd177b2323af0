"""Counts of `data/synonyms/metrics.json`: each rule of induction, and the use of the titles.

Titles are counted as normalized strings. Both kinds of synonyms may make the same string, so the
kinds add up to more than the whole.
"""

from __future__ import annotations

import polars as pl

from tasks.io.schemas import SPLITS


def supported(min_contexts: int) -> pl.Expr:
    """Tell whether a pair holds: it is manual, or so many different shared words make it."""
    return (pl.col("kind") == "manual") | (pl.col("contexts") >= min_contexts)


def induction_counts(
    rules: dict[str, int], passed: pl.DataFrame, fresh: pl.DataFrame, min_contexts: int
) -> dict[str, object]:
    """Candidates by rule, then pairs and titles at one context, at two, and at `min_contexts`.

    The paper's rules require one context. `rules` and `passed` are those of `Induction`; `fresh`
    has the exchanges whose title is kept, whatever its contexts: `normalized, kind, contexts`.
    """
    induced = fresh.filter(pl.col("kind") == "induced")
    rows = {}
    for least in sorted({1, 2, min_contexts}):
        accepted = passed.filter(pl.col("contexts") >= least)
        rows[str(least)] = {
            "too_few_contexts": len(passed) - len(accepted),
            "accepted": len(accepted),
            "titles": induced.filter(supported(least))["normalized"].n_unique(),
        }
    return {**rules, "at_min_contexts": rows}


def title_counts(
    generated: pl.DataFrame, taxonomy: set[str], queried: set[str]
) -> dict[str, dict[str, int]]:
    """Per kind and in all: generated titles, those left out by reason, and those kept.

    `generated` has exchanges of accepted pairs: `normalized, kind`; `taxonomy` and `queried` are
    normalized titles and queries of earlier stages. A query that is a title counts as a title.
    """
    kinds = {kind: generated.filter(pl.col("kind") == kind) for kind in ("induced", "manual")}
    counts = {}
    for name, frame in {**kinds, "all": generated}.items():
        strings = set(frame["normalized"])
        counts[name] = {
            "generated": len(strings),
            "is_a_title": len(strings & taxonomy),
            "is_a_query": len((strings & queried) - taxonomy),
            "kept": len(strings - taxonomy - queried),
        }
    return counts


def part_counts(strings: pl.DataFrame, variants: pl.DataFrame) -> dict[str, dict[str, int]]:
    """Return titles per split, with rows for training and seen pairs for queries."""
    training = strings.filter(pl.col("split") == "train")
    counts = {
        "train": {
            "titles": len(training),
            "rows": len(variants),
            "misspelt_title_so_no_query": len(training.filter(~pl.col("free"))),
        }
    }
    for split in SPLITS:
        held = strings.filter(pl.col("split") == split)
        seen = int(held["seen"].sum())
        counts[split] = {"titles": len(held), "pair_seen": seen, "pair_unseen": len(held) - seen}
    return counts
