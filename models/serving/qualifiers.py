"""Words of a title besides its occupation: seniority, contract, place; reported, never dropped.

A title of nothing but such words, or of words that stand for no job ("retired", "n/a"), is none.

They are searched in the raw title, since capitals tell "Reading" from "reading". The title is split
into words and numbers; of the phrases that begin at a token the longest one counts, and the search
goes on behind it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
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
IS_TELLING = np.array([kind in (NEITHER, "seniority") for kind in ALL_KINDS], float)
"""Of which kinds a phrase may belong to an occupation, as every word without a kind may."""
NUMBER = "#"  # in a phrase: any number, a range or a fraction too, but no amount of money
MONEY = "¤"
TOKENS = re.compile(
    r"[^\W\d_]++(?:['’][^\W\d_]++)*+|\d++(?:[.,:/-]\d++)*+|[£$€¥][^\S\n]?\d[\d.,:/-]*+"
)
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
        (words, gaps), count = Words.of(raw_titles, TOKENS), len(raw_titles)
        first, ends, kinds = self._phrases(words)
        rows, tokens = words.texts[first], np.diff(words.starts)
        are_all = np.bincount(rows, ends - first, count) == tokens
        name_no_job = are_all & (tokens > 0) & (np.bincount(rows, IS_TELLING[kinds], count) == 0)
        sizes = np.array([*map(len, words.names)], np.int64)[words.codes]
        stops = np.cumsum(gaps.of_each([*map(len, gaps.names)])[:-1] + sizes)
        stops -= np.cumsum([0, *map(len, raw_titles)])[words.texts] + words.texts  # in its title
        is_near = gaps.of_each([not gap.strip() for gap in gaps.names]) > 0
        follows = np.zeros(len(first), bool)  # the phrase before, of its kind and close to it
        follows[1:] = (first[1:] == ends[:-1]) & (kinds[1:] == kinds[:-1]) & is_near[first[1:]]
        follows[1:] &= rows[1:] == rows[:-1]
        heads = (~follows).nonzero()[0]
        tails = np.append(heads[1:], len(first)) - 1
        are_told = kinds[heads] < len(KINDS)
        heads, lasts = heads[are_told], ends[tails[are_told]] - 1
        spans = (stops - sizes)[first[heads]].tolist(), stops[lasts].tolist()
        parts = zip(rows[heads].tolist(), *spans, strict=True)
        texts = np.fromiter((raw_titles[row][at:to] for row, at, to in parts), object, len(heads))
        return FoundQualifiers(rows[heads], kinds[heads], texts, name_no_job)

    def _phrases(
        self, words: Words
    ) -> tuple[Int[np.ndarray, " phrase"], Int[np.ndarray, " phrase"], Int[np.ndarray, " phrase"]]:
        """Return first token, end and kind of all phrases, each the longest at its token."""
        names = words.names
        folded = [name.casefold() if name[0].isalpha() else _compared(name) for name in names]
        alone = np.full(len(names), -1)  # the kind of a phrase of one word
        for code, known in enumerate(map(self._known.get, folded)):
            if known and _spelled(known[1], [names[code]]):
                alone[code] = known[0]
        kinds, codes = alone[words.codes], words.codes.tolist()
        ends, taken = np.arange(1, len(codes) + 1), 0
        begun = np.array([*map(self._begun.__contains__, folded)], bool)[words.codes].nonzero()[0]
        stops = words.starts[words.texts[begun] + 1].tolist()
        for at, stop in zip(begun.tolist(), stops, strict=True):
            if at < taken:  # it is within another phrase
                continue
            phrase, end = folded[codes[at]], at + 1
            while end < stop and phrase in self._begun:
                phrase, end = f"{phrase} {folded[codes[end]]}", end + 1
                known = self._known.get(phrase)
                if known and _spelled(known[1], [names[code] for code in codes[at:end]]):
                    kinds[at], ends[at], taken = known[0], end, end
            kinds[at + 1 : taken] = -1
        first = (kinds >= 0).nonzero()[0]
        return first, ends[first], kinds[first]

    @cached_property
    def _known(self) -> dict[str, tuple[int, str]]:
        """Tokens of each phrase to its kind, a position in `ALL_KINDS`, and the phrase."""
        known: dict[str, tuple[int, str]] = {}
        for kind in (NEITHER, NO_JOB, *KINDS):  # the first kind has it
            for phrase in self.phrases.get(kind, ()):
                known.setdefault(" ".join(tokens_of(phrase)), (ALL_KINDS.index(kind), phrase))
        return known

    @cached_property
    def _begun(self) -> frozenset[str]:
        """The first tokens of longer phrases: of "a b c" both "a" and "a b"."""
        tokens = (phrase.split(" ") for phrase in self._known if " " in phrase)
        return frozenset(" ".join(own[:end]) for own in tokens for end in range(1, len(own)))


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


def _spelled(phrase: str, tokens: Sequence[str]) -> bool:
    """Say whether the capitals of a phrase are in the title where they have to be."""
    if phrase.isupper():
        return all(text == text.upper() for text in tokens)
    return not phrase[0].isupper() or not tokens[0][0].islower()
