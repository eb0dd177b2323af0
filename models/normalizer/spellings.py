"""How the taxonomy writes the titles of an index, and in which languages.

A title of an occupation may be of several languages, each with its own spelling. Languages are
small numbers, the most usual one of the occupations' own labels first; a title that is of several
counts as that of the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from models.normalizer.answers.arrays import arrow_numbers
from models.normalizer.text_kernels import HashTable, text_kernels_at_hand
from models.search.coded import Coded
from models.search.stored_vectors import StoredVectors
from models.search.words.title_words import forms_of
from models.text.texts import Texts

if TYPE_CHECKING:
    from jaxtyping import Bool, Float32, Int, Int64, Shaped


@dataclass(frozen=True)
class Spellings:
    """Every (occupation, title, language) of the taxonomy.

    Attributes:
        languages: by their numbers; an empty one is unknown.
        keys: (occupation · titles + title) · languages + language of each, ascending.
        written: all titles, as the taxonomy writes them.
        rows: where each spelling stands in `written`.
        preferred: whether it is the label in its language.
        titles: how many titles the index has.
        labels: preferred title of each occupation in each language; its own where it has none.
    """

    languages: list[str]
    keys: Int64[np.ndarray, " spelling"]
    written: Texts
    rows: Int64[np.ndarray, " spelling"]
    preferred: Bool[np.ndarray, " spelling"]
    titles: int
    labels: Shaped[np.ndarray, "language occupation"]

    @classmethod
    def of(
        cls, aliases: Mapping[str, Sequence[Any]], labels: Shaped[np.ndarray, " occupation"]
    ) -> Self:
        """Read the columns `title` (cleaned), `occupation_id, written, language, preferred`.

        `labels`: each occupation's own, by the codes of an index of all aliases.
        """
        title, occupation, spoken = (
            Coded.of(aliases[name]) for name in ("title", "occupation_id", "language")
        )
        written, preferred = Texts.of(aliases["written"]), np.flatnonzero(aliases["preferred"])
        names, owners = written.take(preferred), occupation.codes[preferred]
        own = spoken.codes[preferred][names == labels[owners]]
        ranked = np.argsort(-np.bincount(own, minlength=len(spoken.names)), kind="stable")
        languages = [spoken.names[number] for number in ranked.tolist()]
        language = np.argsort(ranked)[spoken.codes]
        keys = (occupation.codes * len(title.names) + title.codes) * len(languages) + language
        distinct, first = np.unique(keys, return_index=True)  # of equal ones the taxonomy's first
        by_language = np.tile(labels, (len(languages), 1))
        by_language[language[preferred], owners] = names
        is_label = np.zeros(len(distinct), bool)
        is_label[np.searchsorted(distinct, keys[preferred])] = True
        return cls(languages, distinct, written, first, is_label, len(title.names), by_language)

    def places(
        self,
        occupations: Int[np.ndarray, "*answer"],
        titles: Int[np.ndarray, "*answer"],
        language: int = 0,
    ) -> Int64[np.ndarray, "*answer"]:
        """Return the spelling of each (occupation, title) in a language, or in the first it has."""
        pairs = occupations * self.titles + titles
        if language == 0 and text_kernels_at_hand():
            firsts, numbers = self._firsts
            found = numbers.numbers_of(pairs.reshape(-1).astype(np.uint64))
            if (found >= 0).all():
                return firsts[found].reshape(pairs.shape)
        first = pairs * len(self.languages)
        places: Int64[np.ndarray, "*answer"] = np.searchsorted(self.keys, first + language)
        if language == 0:
            return places
        is_there = self.keys.take(places, mode="clip") == first + language
        places[~is_there] = np.searchsorted(self.keys, first[~is_there])
        return places

    @cached_property
    def _firsts(self) -> tuple[Int64[np.ndarray, " pair"], HashTable]:
        """The first spelling of each (occupation, title), and the numbers of these."""
        pairs, firsts = np.unique(self.keys // len(self.languages), return_index=True)
        return firsts, HashTable.of(pairs.astype(np.uint64))

    def texts(
        self, places: Int[np.ndarray, " answer"], known: Bool[np.ndarray, " answer"] | None = None
    ) -> pa.StringArray:
        """Return spellings as the taxonomy writes them; null where they are not `known`."""
        texts = self._array.take(arrow_numbers(self.rows[places], known))
        return texts if texts.type == pa.string() else texts.cast(pa.string())

    @cached_property
    def _array(self) -> pa.StringArray | pa.LargeStringArray:
        """All titles where they lie."""
        data, ends = self.written.data, np.ascontiguousarray(self.written.ends)
        kind = pa.StringArray if ends.dtype == np.int32 else pa.LargeStringArray
        return kind.from_buffers(len(self.written), pa.py_buffer(ends), pa.py_buffer(data))

    def is_label(self, occupation: int, title: int) -> bool:
        """Say whether a title is an occupation's label in any language, or its form for a gender.

        "Koch" is one, of "Koch/Köchin".
        """
        first = (occupation * self.titles + title) * len(self.languages)
        places = np.arange(*np.searchsorted(self.keys, [first, first + len(self.languages)]))
        if self.preferred[places].any():
            return True
        labels = self.labels[self.languages_of(places), occupation]
        return any(
            self.written[row].casefold() in forms_of(label)
            for row, label in zip(self.rows[places].tolist(), labels, strict=True)
        )

    def label_numbers(
        self, occupations: Int[np.ndarray, " answer"], titles: Int[np.ndarray, " answer"]
    ) -> Int64[np.ndarray, " answer"]:
        """Return the place of the label of each occupation in the first language of its title.

        It is a place in `labels`, all rows one behind the other, as `label_places` has it.
        """
        languages = self.languages_of(self.places(occupations, titles))
        return self.label_places(languages, occupations)

    def label_places(
        self, languages: Int[np.ndarray, " answer"], occupations: Int[np.ndarray, "*answer"]
    ) -> Int64[np.ndarray, "*answer"]:
        """Return the place of labels in a language in `labels`, all rows one behind the other."""
        places: Int64[np.ndarray, "*answer"] = languages * self.labels.shape[1] + occupations
        return places

    def languages_of(self, places: Int[np.ndarray, "*answer"]) -> Int64[np.ndarray, "*answer"]:
        """Return the number of the language of each spelling."""
        languages: Int64[np.ndarray, "*answer"] = self.keys[places] % len(self.languages)
        return languages

    def closest(
        self,
        language: int,
        occupations: Int[np.ndarray, "query k"],
        titles: Int[np.ndarray, "query k"],
        embeddings: Float32[np.ndarray, "query dim"],
        table: StoredVectors,
    ) -> Int64[np.ndarray, "query k"]:
        """Return the title of each (query, occupation) that is closest in a language.

        `titles` are the closest in any; one stays where its occupation has none in this language.
        `table`: embeddings of the titles of the index.
        """
        closest = titles.astype(np.int64)
        for row, column in np.argwhere(~self.are_in(language, occupations, titles)).tolist():
            own = self._titles_in(language, int(occupations[row, column]))
            if len(own):
                closest[row, column] = own[(table[own] @ embeddings[row]).argmax()]
        return closest

    def are_in(
        self,
        language: int,
        occupations: Int[np.ndarray, "query k"],
        titles: Int[np.ndarray, "query k"],
    ) -> Bool[np.ndarray, "query k"]:
        """Say which (occupation, title) are of a language."""
        spoken = self.languages_of(self.places(occupations, titles, language))
        found: Bool[np.ndarray, "query k"] = spoken == language
        return found

    def _titles_in(self, language: int, occupation: int) -> Int64[np.ndarray, " title"]:
        """Return the titles of an occupation in a language, ascending."""
        count = self.titles * len(self.languages)
        start, end = np.searchsorted(self.keys, [occupation * count, (occupation + 1) * count])
        own = self.keys[start:end]
        titles: Int64[np.ndarray, " title"] = (
            own[own % len(self.languages) == language] // len(self.languages) % self.titles
        )
        return titles


def texts_of(values: Sequence[Any]) -> Shaped[np.ndarray, " value"]:
    """Hold values as they are: an array of text would give each the room of the longest."""
    return np.fromiter(values, object, len(values))
