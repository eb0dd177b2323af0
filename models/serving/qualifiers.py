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
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from models.text.words import Words

if TYPE_CHECKING:
    from jaxtyping import Bool, Int, Shaped

KINDS = ("seniority", "contract", "location")
NEITHER = "neither"  # of a phrase that holds a qualifier's word and is none: "head office"
NO_JOB = "no_job"
"""Of a phrase that says that there is no job: a status, a placeholder, an advertiser's call."""
ALL_KINDS = (*KINDS, NEITHER, NO_JOB)
TELLING = ("", NEITHER, "seniority")
"""Kinds of words that may belong to an occupation; a title needs one of them."""
NUMBER = "#"  # in a phrase: any number, a range or a fraction too, but no amount of money
MONEY = "¤"
TOKENS = re.compile(r"[£$€¥][^\S\n]?\d[\d.,:/-]*|\d+(?:[.,:/-]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")
PHRASE_TOKENS = re.compile(rf"{NUMBER}|{TOKENS.pattern}")


class FoundQualifiers(NamedTuple):
    """The qualifiers of several titles.

    Attributes:
        rows: title of each text, ascending.
        kinds: position in `KINDS` of each.
        texts: as spelled, in the order of a title.
        name_no_job: of each title, whether it has words, and none may belong to an occupation.
    """

    rows: Int[np.ndarray, " text"]
    kinds: Int[np.ndarray, " text"]
    texts: Shaped[np.ndarray, " text"]
    name_no_job: Bool[np.ndarray, " title"]


@dataclass(frozen=True)
class Qualifiers:
    """Finds the qualifiers of titles, and the titles that name no job.

    Attributes:
        phrases: of each kind (`KINDS`, `NEITHER` and `NO_JOB`). One with a capital has to have it
            in the title too; one in capitals is in capitals there as well.
    """

    phrases: Mapping[str, Sequence[str]]

    def __call__(self, raw_titles: Sequence[str]) -> FoundQualifiers:
        """Return what raw titles say of each kind, as spelled."""
        found: list[tuple[int, int, str]] = []
        name_no_job = np.zeros(len(raw_titles), bool)
        for row in self._with_phrases(raw_titles):
            title = raw_titles[row]
            spans = [*self._spans(title)]
            name_no_job[row] = {kind for kind, _, _ in spans}.isdisjoint(TELLING)
            for kind, start, end in _joined(spans, title):
                if kind in KINDS:
                    found.append((row, KINDS.index(kind), title[start:end]))
        rows, kinds, texts = zip(*found, strict=True) if found else ((), (), ())
        return FoundQualifiers(
            np.array(rows, int), np.array(kinds, int), np.array(texts, object), name_no_job
        )

    def _with_phrases(self, raw_titles: Sequence[str]) -> list[int]:
        """Return the rows of titles that hold a phrase, whatever its capitals."""
        words = Words.of(raw_titles, TOKENS)
        folded = [*map(_compared, words.names)]
        longest = np.array([self._lengths.get(token, 0) for token in folded], np.int64)[words.codes]
        first = longest.nonzero()[0]
        rows = words.starts.searchsorted(first, side="right") - 1
        most = np.minimum(longest[first], words.starts[rows + 1] - first)
        codes, found = words.codes.tolist(), dict[int, None]()
        for start, row, tokens in zip(first.tolist(), rows.tolist(), most.tolist(), strict=True):
            phrase = folded[codes[start]]
            for code in codes[start + 1 : start + tokens]:
                if phrase in self._known:
                    break
                phrase = f"{phrase} {folded[code]}"
            if phrase in self._known:
                found[row] = None
        return [*found]

    def _spans(self, raw_title: str) -> Iterator[tuple[str, int, int]]:
        """Yield kind, start and end of every phrase, and of every other token without a kind."""
        tokens = [(*match.span(), match.group()) for match in TOKENS.finditer(raw_title)]
        folded = [_compared(text) for _, _, text in tokens]
        position = 0
        while position < len(tokens):
            kind, length = self._longest(folded, position, tokens)
            yield kind, tokens[position][0], tokens[position + length - 1][1]
            position += length

    def _longest(
        self, folded: Sequence[str], position: int, tokens: Sequence[tuple[int, int, str]]
    ) -> tuple[str, int]:
        """Return the kind of the longest phrase at a token, and how many tokens it has, or 1."""
        most = min(self._lengths.get(folded[position], 0), len(folded) - position)
        for length in range(most, 0, -1):
            known = self._known.get(" ".join(folded[position : position + length]))
            if known and _spelled(known[1], tokens[position : position + length]):
                return known[0], length
        return "", 1

    @cached_property
    def _known(self) -> dict[str, tuple[str, str]]:
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
        for phrase in self._known:
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
    joined: list[tuple[str, int, int]] = []
    for kind, begins, ends in spans:
        if kind and joined and joined[-1][0] == kind and not title[joined[-1][2] : begins].strip():
            joined[-1] = (kind, joined[-1][1], ends)
        else:
            joined.append((kind, begins, ends))
    return joined
