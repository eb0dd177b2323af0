"""The columns of a file that nobody has described: their values, and the roles they may have.

A column's name counts if it is one of `NAMES`. Values count so: titles are words and differ from
row to row; an occupation's id stands in several rows, one a title, and determines label and codes;
a label of an input is an id of the taxonomy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path

import polars as pl

from tasks.tables.delimited import DECLARED, DELIMITERS, LINES, Format, find_format, fit
from tasks.tables.header import are_honorifics
from tasks.tables.read_table import open_table
from tasks.tables.rejected import Chunk, RejectedRows, Row, Table
from tasks.tables.source_files import PARQUET, IngestError, SourceFile
from tasks.tables.text import UTF_8, file_encoding, is_text, line_rows, pieces, text_lines, utf_16
from tasks.tables.typed_tables import parquet_places, whole_number

ROLES = {  # of a column, as people name them; two files have a column of occupations
    "taxonomy": ("occupation_id", "title", "occupation_label", "codes", "language"),
    "inputs": ("raw_title", "inputs.occupation_id"),
    "synonyms": ("term", "synonym"),
}
NAMES = {
    "occupation_id": (
        "occupation id|id|code|job code|occupation code|isco|isco code|esco|concept uri|uri|"
        "onet soc code|soc code|noc|rome|kldb|key|number|kennziffer|nummer|identifiant|código"
    ),
    "title": (
        "title|alias|job title|also called|alternate title|alternative title|alt label|synonym|"
        "other name|name|reported job title|bezeichnung|berufsbezeichnung|titel|intitulé|"
        "appellation|título|denominación|denominazione"
    ),
    "occupation_label": (
        "occupation label|label|occupation|occupation title|preferred label|preferred title|"
        "standard title|official title|main title|beruf|métier|ocupación|professione|profissão"
    ),
    "codes": (
        "codes|path|hierarchy|family|job family|category|group|major group|branch|sector|"
        "department|area|field|berufsgruppe|famille|familia"
    ),
    "language": "language|lang|language code|locale|sprache|langue|idioma|lingua|taal",
    "raw_title": (
        "raw title|raw|posting title|vacancy title|advertised title|job title|title|text|input|"
        "query|as written|stellentitel|jobtitel|titel|intitulé|título|titolo"
    ),
    "term": "term|word|phrase|a|begriff",
    "synonym": "synonym|other|same as|b",
}
IN_FULL, IN_PART, UNLIKE = 3.0, 1.0, 2.0
LONGEST_LANGUAGE = 3  # characters of a code such as `de` or `deu`
CLOSE = 0.5  # two columns that differ by less are both possible
ROWS = 50_000  # whose values are looked at
ORIGIN = "It is the file that was named for the profile."
Choices = dict[str, list[str]]  # our name -> the column chosen, then others that may hold it


class Unclear(ValueError):
    """No column, or several, may hold what is needed; the message says which there are."""

    def __init__(self, role: str, columns: Sequence[str]) -> None:
        several = f"{' and '.join(map(repr, columns))} may each be {role}"
        super().__init__(several if columns else f"no column looks like {role}")
        self.role, self.columns = role, columns


class Column:
    """The values of one column, without white space around them; `filled` holds something."""

    def __init__(self, name: str, values: list[str]) -> None:
        self.name, self.values = name, values
        self.filled = [value for value in values if value]
        self.distinct = len(set(self.filled))

    @property
    def is_wordy(self) -> bool:
        """Whether it may hold titles: three in four values have letters, no code, no Mr or Dr."""
        words = self.share(lambda value: any(map(str.isalpha, value)) and not is_code(value))
        return words > 0.75 and not are_honorifics(self.filled)

    @property
    def repeats(self) -> bool:
        """Tell whether values stand in several rows, as an occupation's do with one title a row."""
        return 1 < self.distinct <= 0.9 * len(self.filled)

    @property
    def distinctness(self) -> float:
        """How much the values speak for titles: most if each row has another."""
        return UNLIKE * self.distinct / max(1, len(self.values))

    def determines(self, other: Column) -> bool:
        """Tell whether rows with one value here have one value there, but for one in fifty."""
        pairs = [pair for pair in zip(self.values, other.values, strict=True) if all(pair)]
        first: dict[str, str] = {}
        agree = sum(first.setdefault(key, value) == value for key, value in pairs)
        return bool(pairs) and agree >= 0.98 * len(pairs)

    def share(self, holds: Callable[[str], bool]) -> float:
        """Return the share of the values for which `holds`, empty ones left out."""
        return sum(map(holds, self.filled)) / max(1, len(self.filled))

    def named(self, role: str) -> float:
        """Return how much the name speaks for a role: 0, `IN_PART` or `IN_FULL`."""
        words = " ".join(re.findall(r"[^\W_]+", self.name.casefold()))
        names = NAMES[role].split("|")
        if words in names:
            return IN_FULL
        return IN_PART * any(re.search(rf"\b{name}\b", words) for name in names)


@dataclass(frozen=True)
class Files:
    """Tables with the same columns, which have been read: their form, columns, and choices.

    `columns` are by their names, in order; `more_titles` are further columns of titles.
    """

    paths: list[Path]
    form: Format
    read_as: str
    columns: Mapping[str, Column]
    tables: Mapping[Path, Table]
    choices: Choices = field(default_factory=dict)
    more_titles: tuple[str, ...] = ()

    def rows(self, rejected: RejectedRows) -> Iterator[Row]:
        """Yield the rows as the stage `ingest` will, with the chosen columns by our names.

        Without choices each line is a raw title.
        """
        columns = {role: choice[0] for role, choice in self.choices.items()}
        columns |= {f"title_{number}": name for number, name in enumerate(self.more_titles, 2)}
        for path in self.paths:
            if not columns:
                yield from line_rows(path, "raw_title", ORIGIN, rejected, self.form.encoding)
                continue
            name, chunks = SourceFile.at(path, ORIGIN).name, self.tables[path].chunks(columns)
            yield from rejected.take(row for chunk in chunks for row in chunk.rows(name))


def inspect_file(path: Path, requested: Format, rejected: RejectedRows) -> Files:
    """Read a table whole; `rejected` notes why rows of it are likely to be bad.

    `requested`: a delimiter that holds, and an encoding of a file that is no plain UTF-8 or UTF-16.
    An IngestError says that there is no such file, it is no table, has no header or no rows, or one
    name twice, or the requested delimiter does not part it.
    """
    file, read = SourceFile.at(path, ORIGIN), RejectedRows()
    form = _format(file, requested)
    table = open_table(file, (), ORIGIN, read, form)
    names = table.names
    if not names:
        raise IngestError(f"{path} has no header line: write the columns' names above the rows.")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise IngestError(f"{path} has the column {twice} more than once: rename one of them.")
    chunks = list(table.chunks({name: name for name in names}))
    empty = pl.DataFrame(schema=dict.fromkeys(names, pl.String))
    rows = pl.concat([empty, *(chunk.good for chunk in chunks)]).head(ROWS)
    if rows.is_empty():
        raise IngestError(f"{path} has a header and no rows. {ORIGIN}")
    stripped = rows.select(pl.all().str.strip_chars())
    columns = {name: Column(name, stripped[name].to_list()) for name in names}
    read_as = read.read_as()[0].removeprefix(f"{file.name}: ")
    rejected.causes.update(read.causes)
    held = replace(table, read=partial(_again, chunks, file.suffix in PARQUET))
    return Files([path], form, read_as, columns, {path: held})


def _again(
    chunks: Sequence[Chunk], is_parquet: bool, columns: Mapping[str, str]
) -> Iterator[Chunk]:
    """Yield chunks of all columns with the `columns` by our names."""
    for places, values in chunks:
        chosen = values.select(pl.col(theirs).alias(ours) for ours, theirs in columns.items())
        if is_parquet:  # the text and the fault of a row are those of the chosen columns
            places = parquet_places(chosen, places["line"])
        yield Chunk(places, chosen)


def _format(file: SourceFile, requested: Format) -> Format:
    """Return the delimiter and the encoding of a text, none of any other table."""
    if not file.is_text:
        return Format()
    encoding = requested.encoding
    if utf_16(next(file.blocks(), b"")) or all(map(is_text, pieces(file.blocks(), UTF_8))):
        encoding = ""
    encoding = file_encoding(file, ORIGIN, encoding)
    if not file.is_delimited:
        return Format(encoding=encoding)
    lines = list(islice(text_lines(file, ORIGIN, RejectedRows(), encoding), LINES))
    return Format(_delimiter(lines, requested.delimiter, file.path), encoding)


def _delimiter(lines: list[str], requested: str, path: str) -> str:
    """Return the delimiter; of one title a line, one that leaves the first line whole."""
    declared = DECLARED.fullmatch(lines[0]) if lines else None
    detected = find_format(lines)
    if requested and detected.is_table and not fit(lines, Format(requested)).is_table:
        between = DELIMITERS.get(requested, repr(requested))
        raise IngestError(
            f"{path} is no table with {between} between fields; it has "
            f"{DELIMITERS[detected.form.delimiter]}. {ORIGIN}"
        )
    if requested or declared:
        return requested or declared[1]  # type: ignore[index]  # one of the two is there
    whole = [one for one in DELIMITERS if len(fit(lines, Format(one)).header) == 1]
    return whole[0] if whole and not detected.is_table else detected.form.delimiter


def taxonomy_columns(columns: Mapping[str, Column], overrides: Mapping[str, str]) -> Choices:
    """Infer `occupation_id` and `title`, and if there are any the other roles of a taxonomy.

    Without a column of ids the label, which stands in several rows, is the id. `overrides`: role ->
    column, of the options.
    """
    choices = {role: [name] for role, name in overrides.items()}
    if "language" not in choices:
        named = {
            one.name: one.named("language")
            for one in _free(columns, choices)
            if one.share(lambda value: len(value) <= LONGEST_LANGUAGE) > 0.9
        }
        choices |= _likely("language", named)
    if "occupation_id" not in choices:
        choices["occupation_id"] = choose("occupation_id", _ids(_free(columns, choices)))
    key = columns[choices["occupation_id"][0]]
    if "title" not in choices:
        scores = {
            one.name: one.named("title")
            - IN_FULL * (one.named("occupation_label") == IN_FULL)
            + one.distinctness
            for one in _free(columns, choices)
            if one.is_wordy
        }
        choices["title"] = choose("title", scores)
    of_key = [one for one in _free(columns, choices) if one.repeats and key.determines(one)]
    if "occupation_label" not in choices and key.is_wordy:
        choices["occupation_label"] = [key.name]
    elif "occupation_label" not in choices:
        # one for each id, or nearly: a group's name stands for several
        labels = {
            one.name: one.named("occupation_label") + UNLIKE * one.distinct / key.distinct
            for one in of_key
            if one.is_wordy and one.distinct >= 0.9 * key.distinct
        }
        choices |= _likely("occupation_label", labels)
    if "codes" not in choices:
        above = {
            one.name: one.named("codes") + IN_FULL * (one.share(lambda value: ">" in value) > 0.5)
            for one in _free({one.name: one for one in of_key}, choices)
        }
        choices |= _likely("codes", above)
    return choices


def inputs_columns(
    columns: Mapping[str, Column], overrides: Mapping[str, str], occupation_ids: Collection[str]
) -> Choices:
    """Infer `raw_title`, and `occupation_id` where half of a column's values are such ids.

    There are none where one title stands a line, the first in place of a header.
    """
    first = next(iter(columns.values()))
    if len(columns) == 1 and not overrides and not first.named("raw_title"):
        return {}
    choices = {role: [name] for role, name in overrides.items()}
    if "occupation_id" not in choices:
        shares = {
            one.name: one.share(
                lambda value: value in occupation_ids or whole_number(value) in occupation_ids
            )
            for one in _free(columns, choices)
        }
        labels = {name: share for name, share in shares.items() if share >= 0.5}
        choices |= _likely("occupation_id", labels)
    if "raw_title" not in choices:
        wordy = [one for one in _free(columns, choices) if one.is_wordy]
        scores = {one.name: one.named("raw_title") + one.distinctness for one in wordy}
        choices["raw_title"] = choose("raw_title", scores)
    return choices


def synonyms_columns(columns: Mapping[str, Column], overrides: Mapping[str, str]) -> Choices:
    """Infer `term` and `synonym`, which mean the same both ways: of two columns either is right."""
    choices = {role: [name] for role, name in overrides.items()}
    for role in ROLES["synonyms"]:
        if role not in choices:
            free = _free(columns, choices)
            named = {one.name: score for one in free if (score := one.named(role))}
            choices[role] = [free[0].name] if len(columns) == 2 else choose(role, named)
    return choices


def choose(role: str, scores: Mapping[str, float]) -> list[str]:
    """Return the columns, the likeliest first; Unclear if there is none, or two are as likely."""
    ranked = sorted(scores, key=lambda name: -scores[name])
    close = [name for name in ranked if scores[name] > scores[ranked[0]] - CLOSE]
    if len(close) != 1:
        raise Unclear(role, close)
    return ranked


def is_code(value: str) -> bool:
    """Tell whether a value is one word with a digit, or an address."""
    one_word = not any(map(str.isspace, value))
    return one_word and (any(map(str.isdigit, value)) or "://" in value)


def _free(columns: Mapping[str, Column], choices: Choices) -> list[Column]:
    """Return the columns that are not chosen yet."""
    taken = {choice[0] for choice in choices.values()}
    return [column for name, column in columns.items() if name not in taken]


def _ids(columns: Iterable[Column]) -> dict[str, float]:
    """Score columns that stand in several rows; of equal ones, the finer is an occupation's."""
    repeated = [column for column in columns if column.repeats]
    most = max((column.distinct for column in repeated), default=1)
    return {
        one.name: max(one.named("occupation_id"), one.named("occupation_label") - 1)
        + UNLIKE * (one.share(is_code) > 0.75)
        - one.named("codes")
        + one.distinct / most
        for one in repeated
    }


def _likely(role: str, scores: Mapping[str, float]) -> Choices:
    """Choose where it is clear; what is not needed may be missing."""
    try:
        return {role: choose(role, {name: score for name, score in scores.items() if score})}
    except Unclear:
        return {}
