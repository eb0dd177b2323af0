"""Pairs of phrases that mean the same: a manual set, and induction within an occupation.

The manual set is a `table` with the columns `term` and `synonym`, or a `thesaurus` (Thesaurus of
Job Titles, a public repository) with lines `a, b, c => d`: on the right a term's name as an
identifier, with underscores for spaces, on the left all its names, mostly with its own.

Induction: "C++ developer" and "C++ programmer" share one word; the complements are a candidate in
this occupation (Neculoiu et al. 2016, section 4.2, point 2). Precisely: two normalized titles have
the same first, or last, n words, 1 to `max_shared_words`. Neither complement is empty, and they
share no word. A candidate passes if neither phrase is a title of the taxonomy, both consist of
letters, digits and spaces, and both have at most `max_part_words` words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from models.text.titles import normalize_title
from tasks.tables.read_table import read_rows
from tasks.tables.rejected import DUPLICATE_ROW, RejectedRows, Row, empty
from tasks.tables.source_files import mapped_columns
from tasks.tables.text import line_rows

ORIGIN = (
    "It is the file that synonyms.file names: correct the name or synonyms.columns; a profile "
    "brings files under `external:`; synonyms.reader: none does without."
)
COLUMNS = ("term", "synonym")
SAME = "term and synonym are the same"
BAD_ARROW = "not exactly one =>"
RULES = ("isolated", "special_characters", "too_long")  # why a candidate does not pass: the first


def read_synonyms(
    reader: str, paths: Sequence[Path], columns: Mapping[str, str], rejected: RejectedRows
) -> list[tuple[str, str]]:
    """Read pairs (term, synonym) of normalized phrases, in their order, each pair once.

    `reader`: `table`, `thesaurus` or `none`. IngestError if the file or a column is missing.
    """
    pairs: dict[frozenset[str], tuple[str, str]] = {}
    for row, term, synonym in _rows(reader, paths, columns, rejected):
        pair = frozenset((term, synonym))
        if not (term and synonym):
            rejected.refuse(row, empty("synonym" if term else "term"))
        elif term == synonym:
            rejected.refuse(row, SAME)
        elif pair in pairs:
            rejected.refuse(row, DUPLICATE_ROW)
        else:
            pairs[pair] = (term, synonym)
    return list(pairs.values())


def _rows(
    reader: str, paths: Sequence[Path], columns: Mapping[str, str], rejected: RejectedRows
) -> Iterator[tuple[Row, str, str]]:
    if reader == "none":
        return
    named = {name: name for name in COLUMNS} | dict(columns)
    for path in paths:
        if reader == "thesaurus":
            yield from _thesaurus(path, rejected)
            continue
        mapped = mapped_columns(named, "synonyms.columns", COLUMNS, ())
        for row in read_rows(path, mapped, ORIGIN, rejected):
            yield row, normalize_title(row["term"]), normalize_title(row["synonym"])


def _thesaurus(path: Path, rejected: RejectedRows) -> Iterator[tuple[Row, str, str]]:
    """Yield each line's term ("access" of "access => access_jobs") beside its other names."""
    for row in line_rows(path, "line", ORIGIN, rejected):
        left, *right = row["line"].split("=>")
        if len(right) != 1:
            rejected.refuse(row, BAD_ARROW)
            continue
        names = [normalize_title(name) for name in left.split(",")]
        term = normalize_title(right[0].replace("_", " "))
        term = next((own for own in (term, term.removesuffix(" jobs")) if own in names), term)
        if term in names:
            names.remove(term)
        yield from ((row, term, name) for name in names)


def induce(
    titles: pl.DataFrame, taxonomy: set[str], max_shared_words: int, max_part_words: int
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Find the pairs of every occupation that pass, whatever their contexts, and count candidates.

    `titles`: `occupation_id, normalized`; `taxonomy`: normalized titles of all splits. Out: schema
    `SYNONYMS` without `kind`, phrase < replacement, sorted, where `contexts` counts the different
    shared words that make the pair; and counts of `candidates` and of each of `RULES`.
    """
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
    pairs = [_paired(remainders) for remainders in _remainders(titles, max_shared_words)]
    candidates = (
        pl.concat(pairs)
        .group_by("occupation_id", "phrase", "replacement")
        .agg(contexts=pl.col("shared").n_unique())
        .with_columns(verdict=pl.coalesce(*verdicts, pl.lit("passed")))
    )
    counts = {"candidates": len(candidates)}
    counts |= {rule: candidates["verdict"].to_list().count(rule) for rule in RULES}
    passed = candidates.filter(pl.col("verdict") == "passed").drop("verdict")
    return passed.sort("occupation_id", "phrase", "replacement"), counts


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
    phrase, replacement = (pl.col(name).str.split(" ") for name in ("phrase", "replacement"))
    return (
        remainders.lazy()
        .join(remainders.lazy().rename({"phrase": "replacement"}), on=["occupation_id", "shared"])
        .filter(pl.col("phrase") < pl.col("replacement"))
        # a word left in both would be shared too: then the titles share other words than these
        .filter(phrase.list.set_intersection(replacement).list.len() == 0)
        .collect()
    )
