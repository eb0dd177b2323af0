"""Words of a title besides its occupation: seniority, contract, place; reported, never dropped.

A title of nothing but such words, or of words that stand for no job ("retired", "n/a"), is none.

They are searched in the raw title, since capitals tell "Reading" from "reading". The title is split
into words and numbers; of the phrases that begin at a token the longest one counts, and the search
goes on behind it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Bool, Int, Shaped

KINDS = ("seniority", "contract", "location")
NEITHER = "neither"
"""Of a phrase that holds a qualifier's word and is none: "head office"."""
NO_JOB = "no_job"
"""Of a phrase that says that there is no job: a status, a placeholder, an advertiser's call."""
ALL_KINDS = (*KINDS, NEITHER, NO_JOB)
TELLING = ("", NEITHER, "seniority")
"""Kinds of words that may belong to an occupation; a title needs one of them."""
NUMBER = "#"
"""In a phrase: any number, a range or a fraction too, but no amount of money."""
MONEY = "¤"
TOKENS = re.compile(r"[£$€¥]\s?\d[\d.,:/-]*|\d+(?:[.,:/-]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")
PHRASE_TOKENS = re.compile(rf"{NUMBER}|{TOKENS.pattern}")


class Qualified(NamedTuple):
    """The words of a title, as spelled, of each of `KINDS`.

    Attributes:
        names_no_job: whether it has words, and none of them may belong to an occupation.
    """

    seniority: list[str]
    contract: list[str]
    location: list[str]
    names_no_job: bool


NOTHING = Qualified([], [], [], names_no_job=False)


class FoundQualifiers(NamedTuple):
    """The qualifiers of several titles.

    Attributes:
        rows: title of each text, ascending.
        kinds: place in `KINDS` of each.
        texts: as spelled, in the order of a title.
        name_no_job: as `Qualified` has it, of each title.
    """

    rows: Int[np.ndarray, " text"]
    kinds: Int[np.ndarray, " text"]
    texts: Shaped[np.ndarray, " text"]
    name_no_job: Bool[np.ndarray, " title"]

    @classmethod
    def of(
        cls, found: Sequence[tuple[int, int, str]], name_no_job: Bool[np.ndarray, " title"]
    ) -> Self:
        """Collect title, place in `KINDS` and text of each, by ascending titles."""
        rows, kinds, texts = zip(*found, strict=True) if found else ((), (), ())
        return cls(np.array(rows, int), np.array(kinds, int), np.array(texts, object), name_no_job)


@dataclass(frozen=True)
class Qualifiers:
    """Finds the qualifiers of a title, and the titles that name no job.

    Attributes:
        phrases: of each kind (`KINDS`, `NEITHER` and `NO_JOB`). One with a capital has to have it
            in the title too; one in capitals is in capitals there as well.
    """

    phrases: Mapping[str, Sequence[str]]

    def __call__(self, raw_title: str) -> Qualified:
        """Return what a title says of each kind, as spelled, in its order."""
        tokens = TOKENS.findall(raw_title)
        if self._lengths.keys().isdisjoint(map(_compared, tokens)):  # most titles
            return NOTHING
        spans = [*self._spans(raw_title)]
        kinds = {kind for kind, _, _ in spans}
        joined = _joined([span for span in spans if span[0]], raw_title)
        seniority, contract, location = (
            [raw_title[start:end] for own, start, end in joined if own == kind] for kind in KINDS
        )
        return Qualified(seniority, contract, location, kinds.isdisjoint(TELLING))

    def _spans(self, raw_title: str) -> Iterator[tuple[str, int, int]]:
        """Yield kind, start and end of every phrase, and of every other token without a kind."""
        tokens = [(*match.span(), match.group()) for match in TOKENS.finditer(raw_title)]
        folded = [_compared(text) for _, _, text in tokens]
        place = 0
        while place < len(tokens):
            kind, length = self._longest(folded, place, tokens)
            yield kind, tokens[place][0], tokens[place + length - 1][1]
            place += length

    def _longest(
        self, folded: Sequence[str], place: int, tokens: Sequence[tuple[int, int, str]]
    ) -> tuple[str, int]:
        """Return the kind of the longest phrase at a token, and how many tokens it has, or 1."""
        most = min(self._lengths.get(folded[place], 0), len(folded) - place)
        for length in range(most, 0, -1):
            known = self.known.get(" ".join(folded[place : place + length]))
            if known and _spelled(known[1], tokens[place : place + length]):
                return known[0], length
        return "", 1

    @cached_property
    def known(self) -> dict[str, tuple[str, str]]:
        """Tokens of each phrase to its kind and the phrase; the first kind has it."""
        known: dict[str, tuple[str, str]] = {}
        for kind in (NEITHER, NO_JOB, *KINDS):
            for phrase in self.phrases.get(kind, ()):
                known.setdefault(" ".join(tokens_of(phrase)), (kind, phrase))
        return known

    @cached_property
    def _lengths(self) -> dict[str, int]:
        """First token to the tokens of the longest phrase that begins with it."""
        lengths: dict[str, int] = {}
        for phrase in self.known:
            first, length = phrase.partition(" ")[0], phrase.count(" ") + 1
            lengths[first] = max(length, lengths.get(first, 0))
        return lengths


def read_phrases(file: Path) -> dict[str, list[str]]:
    """Read the phrases of each kind: a table of text with the columns `kind` and `phrase`."""
    phrases: dict[str, list[str]] = {kind: [] for kind in ALL_KINDS}
    with file.open(encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines)  # a DictReader takes four times as long
        header = next(rows, [])
        kind, phrase = header.index("kind"), header.index("phrase")
        for row in filter(None, rows):
            phrases[row[kind]].append(row[phrase])
    return phrases


def check_phrases(file: Path) -> None:
    """Check a table of phrases.

    Raises:
        ValueError: a column is missing, a kind is unknown, or a phrase is empty or stands twice;
            with the line.
    """
    line_of: dict[str, int] = {}
    with file.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines)
        if rows.fieldnames != ["kind", "phrase"]:
            raise ValueError(f"{file}: columns {rows.fieldnames}; it needs kind,phrase")
        for number, row in enumerate(rows, start=2):
            kind, phrase = row["kind"], row["phrase"] or ""
            tokens = " ".join(tokens_of(phrase))
            if kind not in ALL_KINDS:
                kinds = ", ".join(ALL_KINDS)
                raise ValueError(f"{file}, line {number}: kind {kind!r}; use {kinds}")
            if not tokens:
                raise ValueError(f"{file}, line {number}: no word in the phrase {phrase!r}")
            if tokens in line_of:
                first = line_of[tokens]
                raise ValueError(f"{file}, line {number}: {phrase!r} stands in line {first}")
            line_of[tokens] = number


def tokens_of(phrase: str) -> list[str]:
    """Return a phrase's tokens as titles are compared by: folded, numbers alike."""
    if phrase.replace(" ", "").isalpha():  # nearly all: the pattern takes several times as long
        return phrase.casefold().split()
    return [_compared(text) for text in PHRASE_TOKENS.findall(phrase)]


def _compared(token: str) -> str:
    if token[0].isdigit():
        return NUMBER
    return MONEY if token[0] in "£$€¥" else token.casefold()


def _spelled(phrase: str, tokens: Sequence[tuple[int, int, str]]) -> bool:
    """Say whether the capitals of a phrase are in the title where they have to be."""
    if phrase.isupper():
        return all(text == text.upper() for _, _, text in tokens)
    return not phrase[0].isupper() or not tokens[0][2][0].islower()


def _joined(spans: Sequence[tuple[str, int, int]], title: str) -> list[tuple[str, int, int]]:
    """Join neighbours of one kind with nothing but white space between them."""
    joined = list(spans[:1])
    for (before, _, end), (kind, begins, ends) in pairwise(spans):
        if kind == before and not title[end:begins].strip():
            joined[-1] = (kind, joined[-1][1], ends)
        else:
            joined.append((kind, begins, ends))
    return joined
