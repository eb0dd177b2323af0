"""The taxonomy's ids, labels, codes and titles, by the positions of an index, in their languages.

A title of an occupation may be of several languages, each with its own spelling. Languages are
small numbers, the most usual one of the occupations' own labels first; a title that is of several
counts as that of the first. Columns of text are Arrow's, made without `pyarrow.array`, which
imports pandas: half a second for one answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from models.serving.index import AliasIndex, StoredVectors
from models.text.texts import Coded, Texts
from models.text.words import WORDS, forms_of

if TYPE_CHECKING:
    from jaxtyping import Bool, Float32, Float64, Int, Int32, Int64, Shaped

REMEMBERED_TEXTS = 1 << 14


@dataclass(frozen=True)
class TaxonomyLabels:
    """Arrays of text, by the positions of an index.

    Attributes:
        occupations: occupation_id of each.
        labels: preferred title of each, of its own language.
        codes: hierarchy above each, broad to narrow, as a list.
        crosswalk_codes: of other standards, as a list.
        spellings: of its titles, in their languages.
    """

    occupations: Shaped[np.ndarray, " occupation"]
    labels: Shaped[np.ndarray, " occupation"]
    codes: Shaped[np.ndarray, " occupation"]
    crosswalk_codes: Shaped[np.ndarray, " occupation"]
    spellings: Spellings

    @classmethod
    def of(
        cls,
        index: AliasIndex,
        aliases: Mapping[str, Sequence[Any]],
        occupations: Mapping[str, Sequence[Any]],
    ) -> Self:
        """Read the taxonomy behind an index of all aliases.

        `aliases` has the columns that `Spellings` reads; `occupations` has `occupation_id,
        occupation_label, codes, crosswalk_codes`.
        """
        position = {name: row for row, name in enumerate(occupations["occupation_id"])}
        rows = [position[name] for name in index.occupations]
        labels, codes, crosswalk_codes = (
            texts_of([occupations[name][row] for row in rows])
            for name in ("occupation_label", "codes", "crosswalk_codes")
        )
        spellings = Spellings.of(aliases, labels)
        return cls(texts_of(index.occupations), labels, codes, crosswalk_codes, spellings)

    def label(self, occupation: int, language: str | None) -> str:
        """Return the preferred title of an occupation in a language, or its own."""
        spoken = self.spellings.languages
        if language in spoken:
            return str(self.spellings.labels[spoken.index(language), occupation])
        return str(self.labels[occupation])

    def confident_codes(
        self,
        sure: Float64[np.ndarray, "query level"],
        answers: Int[np.ndarray, " query"],
        least: float,
    ) -> Int64[np.ndarray, " query"]:
        """Return the narrowest code of each answer, or its id, that is sure enough; −1 if none is.

        The codes are positions in `code_names`.
        """
        codes: Int64[np.ndarray, " query"] = self._narrow[1][answers, (sure >= least).sum(axis=1)]
        return codes

    @property
    def code_names(self) -> list[str]:
        """All ids and codes."""
        return self._narrow[0]

    @cached_property
    def _narrow(self) -> tuple[list[str], Int64[np.ndarray, "occupation level"]]:
        """Ids and codes, and of each occupation their positions: none, then broad to narrow."""
        depth = max(map(len, self.codes), default=0)
        position: dict[str, int] = {}
        rows = [
            [
                -1,
                *(
                    position.setdefault(own[min(level, len(own) - 1)], len(position)) if own else -1
                    for level in range(depth)
                ),
                position.setdefault(name, len(position)),
            ]
            for name, own in zip(self.occupations, self.codes, strict=True)
        ]
        return [*position], np.array(rows, np.int64)

    @cached_property
    def differences(self) -> Differences:
        """Compares the words of spellings and, numbered behind these, of labels."""
        return Differences([self.spellings.written, self.spellings.labels.reshape(-1).tolist()])

    @cached_property
    def code_counts(self) -> Int64[np.ndarray, " occupation"]:
        """How many codes stand above each."""
        return np.array([*map(len, self.codes)], np.int64)

    @cached_property
    def crosswalk_lists(self) -> pa.ListArray:
        """Codes of other standards of each occupation, and an empty list at last."""
        return arrow_lists([*self.crosswalk_codes, []])

    def code_lists(self, depth: int) -> pa.ListArray:
        """Return the first `depth` codes of each occupation (0: all), an empty list at last."""
        if depth not in self._code_lists:
            codes = [own[: depth or None] for own in self.codes]
            self._code_lists[depth] = arrow_lists([*codes, []])
        return self._code_lists[depth]

    @cached_property
    def _code_lists(self) -> dict[int, pa.ListArray]:
        return {}


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

        `labels`: each occupation's own, by the positions of an index of all aliases.
        """
        title, occupation, spoken = (
            Coded.of(aliases[name]) for name in ("title", "occupation_id", "language")
        )
        written, preferred = Texts.of(aliases["written"]), np.flatnonzero(aliases["preferred"])
        names, owners = written.take(preferred), occupation.codes[preferred]
        own = spoken.codes[preferred][names == labels[owners]]
        ranked = (-np.bincount(own, minlength=len(spoken.names))).argsort(kind="stable")
        languages = [spoken.names[number] for number in ranked.tolist()]
        language = ranked.argsort()[spoken.codes]
        keys = (occupation.codes * len(title.names) + title.codes) * len(languages) + language
        distinct, first = np.unique(keys, return_index=True)  # of equal ones the taxonomy's first
        by_language = np.tile(labels, (len(languages), 1))
        by_language[language[preferred], owners] = names
        is_label = np.zeros(len(distinct), bool)
        is_label[distinct.searchsorted(keys[preferred])] = True
        return cls(languages, distinct, written, first, is_label, len(title.names), by_language)

    def positions(
        self,
        occupations: Int[np.ndarray, "*answer"],
        titles: Int[np.ndarray, "*answer"],
        language: int = 0,
    ) -> Int64[np.ndarray, "*answer"]:
        """Return the spelling of each (occupation, title) in a language, or in the first it has."""
        first = (occupations * self.titles + titles) * len(self.languages)
        found: Int64[np.ndarray, "*answer"] = self.keys.searchsorted(first + language)
        if language == 0:
            return found
        is_there = self.keys.take(found, mode="clip") == first + language
        found[~is_there] = self.keys.searchsorted(first[~is_there])
        return found

    def texts(
        self,
        positions: Int[np.ndarray, " answer"],
        known: Bool[np.ndarray, " answer"] | None = None,
    ) -> pa.StringArray:
        """Return spellings as the taxonomy writes them; null where they are not `known`."""
        texts = self._array.take(arrow_numbers(self.rows[positions], known))
        return texts if texts.type == pa.string() else texts.cast(pa.string())

    @cached_property
    def _array(self) -> pa.StringArray | pa.LargeStringArray:
        """All titles where they lie."""
        data, offsets = self.written.data, np.ascontiguousarray(self.written.offsets)
        kind = pa.StringArray if offsets.dtype == np.int32 else pa.LargeStringArray
        return kind.from_buffers(len(self.written), pa.py_buffer(offsets), pa.py_buffer(data))

    def is_label(self, occupation: int, title: int) -> bool:
        """Say whether a title is an occupation's label in any language, or its form for a gender.

        "Koch" is one, of "Koch/Köchin".
        """
        first = (occupation * self.titles + title) * len(self.languages)
        positions = np.arange(*self.keys.searchsorted([first, first + len(self.languages)]))
        if self.preferred[positions].any():
            return True
        labels = self.labels[self.languages_of(positions), occupation]
        return any(
            self.written[row].casefold() in forms_of(label)
            for row, label in zip(self.rows[positions].tolist(), labels, strict=True)
        )

    def label_numbers(
        self, occupations: Int[np.ndarray, " answer"], titles: Int[np.ndarray, " answer"]
    ) -> Int64[np.ndarray, " answer"]:
        """Return the position of the label of each occupation in the first language of its title.

        The position is in `labels`, all rows one behind the other, as `label_positions` has it.
        """
        languages = self.languages_of(self.positions(occupations, titles))
        return self.label_positions(languages, occupations)

    def label_positions(
        self, languages: Int[np.ndarray, " answer"], occupations: Int[np.ndarray, "*answer"]
    ) -> Int64[np.ndarray, "*answer"]:
        """Return positions of labels in `labels`, all its rows one behind the other."""
        positions: Int64[np.ndarray, "*answer"] = languages * self.labels.shape[1] + occupations
        return positions

    def languages_of(self, positions: Int[np.ndarray, "*answer"]) -> Int64[np.ndarray, "*answer"]:
        """Return the number of the language of each spelling."""
        languages: Int64[np.ndarray, "*answer"] = self.keys[positions] % len(self.languages)
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
        spoken = self.languages_of(self.positions(occupations, titles, language))
        found: Bool[np.ndarray, "query k"] = spoken == language
        return found

    def _titles_in(self, language: int, occupation: int) -> Int64[np.ndarray, " title"]:
        """Return the titles of an occupation in a language, ascending."""
        count = self.titles * len(self.languages)
        start, end = self.keys.searchsorted([occupation * count, (occupation + 1) * count])
        own = self.keys[start:end]
        titles: Int64[np.ndarray, " title"] = (
            own[own % len(self.languages) == language] // len(self.languages) % self.titles
        )
        return titles


@dataclass(frozen=True, eq=False)
class Differences:
    """Compares texts, which are named by their numbers.

    Attributes:
        parts: sequences of texts, numbered one behind the other.
    """

    parts: Sequence[Sequence[str]]

    def __call__(
        self, ones: Int[np.ndarray, " pair"], others: Int[np.ndarray, " pair"]
    ) -> tuple[pa.StringArray, Int64[np.ndarray, " pair"]]:
        """Return the words of each text that its other has not, and how many.

        They are in lower case, each once, in the order of the text.
        """
        words = ([*map(self._words, own.tolist())] for own in (ones, others))
        made = [
            [word for word in one if word not in other] for one, other in zip(*words, strict=True)
        ]
        return arrow_texts([*chain(*made)]), np.array([*map(len, made)], np.int64)

    @cached_property
    def _words(self) -> Callable[[int], dict[str, None]]:
        """Looks up the words of a text; many titles have the same answer."""

        def words(number: int) -> dict[str, None]:
            for part in self.parts:
                if number < len(part):
                    return dict.fromkeys(WORDS.findall(part[number].lower()))
                number -= len(part)
            raise IndexError(number)

        return lru_cache(REMEMBERED_TEXTS)(words)


def arrow_numbers(
    values: Shaped[np.ndarray, " row"], known: Bool[np.ndarray, " row"] | None = None
) -> pa.Array:
    """Return numbers or truth values; null where they are not `known`."""
    data = np.packbits(values, bitorder="little") if values.dtype == bool else values
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [_validity(known), _buffer(data)])


def arrow_texts(values: Sequence[str | None]) -> pa.StringArray:
    """Return texts; None is null."""
    encoded = [b"" if value is None else value.encode() for value in values]
    known = np.array([value is not None for value in values], bool) if None in values else None
    buffers = [_validity(known), _buffer(offsets_of([*map(len, encoded)]))]
    buffers.append(pa.py_buffer(b"".join(encoded)))
    return pa.Array.from_buffers(pa.string(), len(encoded), buffers)


def arrow_lists(values: Sequence[Sequence[str]]) -> pa.ListArray:
    """Return lists of texts."""
    texts = arrow_texts([text for own in values for text in own])
    return arrow_listed(offsets_of([*map(len, values)]), texts)


def offsets_of(lengths: Sequence[int] | Int[np.ndarray, " row"]) -> Int32[np.ndarray, " row+1"]:
    """Return the start of each list of these lengths, and the end of the last."""
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, dtype=np.int32, out=offsets[1:])
    return offsets


def arrow_listed(offsets: Int32[np.ndarray, " row+1"], values: pa.Array) -> pa.ListArray:
    """Return lists of values: `offsets` has the start of each, and the end of the last."""
    count, kind, buffers = len(offsets) - 1, pa.list_(values.type), [None, _buffer(offsets)]
    return pa.Array.from_buffers(kind, count, buffers, children=[values])


def _validity(known: Bool[np.ndarray, " row"] | None) -> pa.Buffer | None:
    if known is None or known.all():
        return None
    return _buffer(np.packbits(known, bitorder="little"))


def _buffer(values: Shaped[np.ndarray, " row"]) -> pa.Buffer:
    return pa.py_buffer(np.ascontiguousarray(values))


def texts_of(values: Sequence[Any]) -> Shaped[np.ndarray, " value"]:
    """Hold values as they are: an array of text would give each the room of the longest."""
    return np.fromiter(values, object, len(values))
