"""Occupations, titles and groups as they are read, and the three frames they become.

A reader of one format is a module of `taxonomies/`, named as in `ingest.taxonomy.reader`, with a
function `read` of the section `ingest.taxonomy` and the rejected rows. Titles are kept as received,
without white space around them. Of two titles of one occupation and language that are equal cleaned
(`models.text.titles.clean_title`) the first one is kept, the label before all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated

import polars as pl
from pydantic import AfterValidator

from models.text.titles import KEPT_PUNCTUATION, clean_title, normalize_title
from tasks.io.schemas import ALIASES, GROUPS, OCCUPATIONS
from tasks.io.section import Params
from tasks.tables import rejected as reasons
from tasks.tables.delimited import Format, checked_delimiter, checked_encoding
from tasks.tables.rejected import RejectedRows, Row, empty
from tasks.tables.source_files import IngestError

ENGLISH = "en"


def checked_reader(name: str) -> str:
    """Return the name of a module of `taxonomies/`; the ValueError for another lists them."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("taxonomies/[!_]*.py"))
    if name not in names:
        raise ValueError(f"{name!r} is no reader of taxonomies; choose {', '.join(names)}")
    return name


class FormatParams(Params):
    """How a table of text is read; an empty value is detected in the file."""

    delimiter: Annotated[str, AfterValidator(checked_delimiter)]
    encoding: Annotated[str, AfterValidator(checked_encoding)]

    @property
    def format(self) -> Format:
        """Both as readers take them."""
        return Format(self.delimiter, self.encoding)


class TaxonomyParams(FormatParams):
    """Which format, which files, and which of their columns and languages."""

    reader: Annotated[str, AfterValidator(checked_reader)]
    files: dict[str, str]  # the reader's names to names in the folder
    columns: dict[str, str | list[str]]  # of `table`; `title` may have several
    languages: list[str]  # whose titles are kept; none: all


def read_taxonomy(params: TaxonomyParams, rejected: RejectedRows) -> Taxonomy:
    """Read titles of `params.languages`; IngestError if a file, column or language is missing."""
    reader = import_module(f"tasks.pipeline.ingest.taxonomies.{params.reader}")
    taxonomy: Taxonomy = reader.read(params, rejected)
    return taxonomy.in_languages(params.languages)


class Taxonomy:
    """A taxonomy in the making: a reader adds an occupation first, then its titles."""

    def __init__(self, rejected: RejectedRows) -> None:
        self.rejected = rejected
        self.codes: dict[str, list[str]] = {}
        self.groups: dict[str, str] = {}  # code of the hierarchy -> its label, if a reader knows it
        # of each occupation: (language, cleaned) -> as received; the label is first
        self.titles: dict[str, dict[tuple[str, str], str]] = {}
        self.labels: dict[tuple[str, str], str] = {}  # (id, language) -> the label, as received

    def add_occupation(
        self, row: Row, occupation_id: str, label: str, codes: Sequence[str], language: str = ""
    ) -> bool:
        """Take an occupation with its label in a language; False if `row` was refused."""
        reason = _empty(occupation_id, label, "occupation_label")
        if reason or (occupation_id, language) in self.labels:
            self.rejected.refuse(row, reason or reasons.DUPLICATE_OCCUPATION)
            return False
        self.codes.setdefault(occupation_id, list(codes))
        self.labels[occupation_id, language] = label
        self.titles.setdefault(occupation_id, {})[language, clean_title(label)] = label
        return True

    def add_title(self, row: Row, occupation_id: str, title: str, language: str = "") -> None:
        """Take a title of a known occupation, or refuse `row`; a language's first is its label."""
        key, titles = (language, clean_title(title)), self.titles.get(occupation_id)
        if reason := _empty(occupation_id, title, "title"):
            self.rejected.refuse(row, reason)
        elif titles is None:
            self.rejected.refuse(row, reasons.UNKNOWN_OCCUPATION)
        elif key in titles:
            self.rejected.refuse(row, reasons.DUPLICATE_TITLE)
        else:
            titles[key] = title
            self.labels.setdefault((occupation_id, language), title)

    def label(self, occupation_id: str) -> str:
        """Return the preferred title."""
        return next(iter(self.titles[occupation_id].values()))

    def in_languages(self, languages: Sequence[str]) -> Taxonomy:
        """Return what there is in these languages, or if none is named in all, English first.

        An occupation has its label in the first of them that it has, or is left out without any.
        IngestError if no title is in one of them.
        """
        known = dict.fromkeys(language for _, language in self.labels)
        if unknown := [language for language in languages if language not in known]:
            there = ", ".join(sorted(filter(None, known))) or "of no known language"
            raise IngestError(
                f"languages {', '.join(unknown)}: no title is in it; the titles are {there}. "
                "Correct `languages` of the taxonomy's section, or name further files there."
            )
        order = languages or sorted(known, key=lambda language: language != ENGLISH)
        rank = {language: position for position, language in enumerate(order)}
        chosen = Taxonomy(self.rejected)
        chosen.groups = self.groups
        for name, titles in self.titles.items():
            keys = sorted((key for key in titles if key[0] in rank), key=lambda key: rank[key[0]])
            if keys:
                chosen.titles[name] = {key: titles[key] for key in keys}
                chosen.codes[name] = self.codes[name]
        chosen.labels = {key: label for key, label in self.labels.items() if key[1] in rank}
        return chosen

    def occupations(self) -> pl.DataFrame:
        """Return columns of `OCCUPATIONS`, sorted by id."""
        rows = [(name, self.label(name), self.codes[name]) for name in sorted(self.titles)]
        return pl.DataFrame(rows, schema=OCCUPATIONS, orient="row")

    def labelled_groups(self) -> pl.DataFrame:
        """Return columns of `GROUPS`, sorted by code: those in use that have a label."""
        codes = sorted({code for above in self.codes.values() for code in above})
        rows = [(code, label) for code in codes if (label := self.groups.get(code))]
        return pl.DataFrame(rows, schema=GROUPS, orient="row")

    def aliases(self) -> pl.DataFrame:
        """Return columns of `ALIASES`; an occupation's labels come first, its own before others."""
        rows = [
            (name, title, language, self.labels[name, language] == title)
            for name, titles in self.titles.items()
            for (language, _), title in titles.items()
        ]
        frame = pl.DataFrame(rows, schema=ALIASES, orient="row")
        title = pl.when("preferred").then(pl.lit("")).otherwise("title")
        return frame.sort("occupation_id", ~pl.col("preferred"), title, maintain_order=True)


def _empty(occupation_id: str, title: str, name: str) -> str:
    """Name the reason if one of them holds nothing; a title of punctuation alone is empty too."""
    if not occupation_id:
        return empty("occupation_id")
    if any(map(str.isalnum, title)):  # as nearly all have: normalizing takes half of the time
        return ""
    left = normalize_title(title).strip(" " + "".join(KEPT_PUNCTUATION))
    return "" if left else empty(name)
