"""Titles with one phrase exchanged for a synonym.

A synonym holds in both directions throughout its occupation, or throughout the taxonomy if it has
none. Phrases are whole words of the normalized title ("developer/programmer" is one word) and are
exchanged in the cleaned title, whose other words and punctuation stay. Each title is read once: its
runs of words are looked up in an index of phrases.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from typing import NamedTuple

import polars as pl

from models.text.titles import KEPT_PUNCTUATION, clean_title, normalize_title

TEXTS = ("title", "variant", "normalized", "phrase", "replacement", "kind")
GENERATED = {**dict.fromkeys(TEXTS, pl.String), "contexts": pl.UInt32}  # of `substitute`


class Synonym(NamedTuple):
    """The replacement of a phrase, and the kind and contexts of the pair."""

    replacement: str
    kind: str
    contexts: int | None


Index = Mapping[str, Mapping[str | None, list[Synonym]]]  # phrase -> occupation (None: every one)


def substitute(titles: pl.DataFrame, synonyms: pl.DataFrame) -> pl.DataFrame:
    """Exchange every phrase of every title for each of its synonyms, one at a time: `GENERATED`.

    `titles`: `title` (cleaned), `occupation_ids`. `contexts` is the largest of several occupations.
    """
    index: dict[str, dict[str | None, list[Synonym]]] = defaultdict(lambda: defaultdict(list))
    columns = ("occupation_id", "phrase", "replacement", "kind", "contexts")
    for occupation_id, phrase, replacement, kind, contexts in synonyms.select(columns).iter_rows():
        index[phrase][occupation_id].append(Synonym(replacement, kind, contexts))
        index[replacement][occupation_id].append(Synonym(phrase, kind, contexts))
    longest = max((phrase.count(" ") + 1 for phrase in index), default=0)
    rows = [
        (title, variant, normal, phrase, *synonym)
        for title, occupation_ids in titles.select("title", "occupation_ids").iter_rows()
        for variant, normal, phrase, synonym in _exchanged(
            title, [None, *occupation_ids], index, longest
        )
    ]
    generated = pl.DataFrame(rows, schema=GENERATED, orient="row")
    distinct = generated.group_by(pl.exclude("contexts"), maintain_order=True)
    return distinct.agg(pl.col("contexts").max())


def _exchanged(
    title: str, occupation_ids: list[str | None], index: Index, longest: int
) -> Iterator[tuple[str, str, str, Synonym]]:
    """Yield (variant, normalized variant, phrase, synonym) for each possible exchange."""
    texts = title.split()
    read = [(at, *_word(text)) for at, text in enumerate(texts)]
    words = [(at, before, word, after) for at, before, word, after in read if word]
    normal = [word for _, _, word, _ in words]
    for start, (first_at, before, *_) in enumerate(words):
        for end, (last_at, *_, after) in enumerate(words[start : start + longest], start + 1):
            phrase = " ".join(normal[start:end])
            by_occupation = index.get(phrase, {})
            owned = (by_occupation.get(one, []) for one in occupation_ids)
            for synonym in chain.from_iterable(owned):
                if not _stands_already(normal, start, phrase, synonym.replacement):
                    put = before + synonym.replacement + after
                    variant = [*texts[:first_at], put, *texts[last_at + 1 :]]
                    normalized = [*normal[:start], synonym.replacement, *normal[end:]]
                    yield clean_title(" ".join(variant)), " ".join(normalized), phrase, synonym


def _stands_already(words: list[str], start: int, phrase: str, replacement: str) -> bool:
    """Tell whether `replacement` stands there, as "staff accountant" for "accountant"."""
    if len(replacement) <= len(phrase) or f" {phrase} " not in f" {replacement} ":
        return False
    inner, outer = phrase.split(), replacement.split()
    return any(
        outer[at : at + len(inner)] == inner
        and words[start - at : start - at + len(outer)] == outer
        for at in range(min(start, len(outer) - len(inner)) + 1)
    )


@cache
def _word(text: str) -> tuple[str, str, str]:
    """Return the punctuation before a word, the normalized word, and the punctuation after it."""
    # normalizing takes these characters away
    signs = (sign for sign in text if unicodedata.category(sign).startswith("P"))
    removed = "".join(sign for sign in signs if sign not in KEPT_PUNCTUATION)
    before, after = len(text) - len(text.lstrip(removed)), len(text.rstrip(removed))
    return text[:before], normalize_title(text), text[after:]
