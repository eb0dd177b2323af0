"""Any taxonomy in tables with one title a row, or with several in columns, by a column map.

Our names: `occupation_id` and `title`, and if the file has them `occupation_label`, `codes` (broad
to narrow, separated by ``>``) and `language`, of the row's titles. Without a label an occupation's
first title in a language is its label there. A row that contradicts an earlier one is refused. Ids
that all end in `.0` are whole numbers. Further tables (`titles_2`) have the same columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from tasks.pipeline.ingest.taxonomy import Taxonomy, TaxonomyParams
from tasks.tables.read_table import distinct, read_rows
from tasks.tables.rejected import CONFLICT, RejectedRows, Row, empty
from tasks.tables.source_files import IngestError, mapped_columns, named_files
from tasks.tables.typed_tables import whole_numbers

ORIGIN = (
    "It is the file that ingest.taxonomy.files.titles names: correct the name, or columns, "
    "delimiter or encoding of ingest.taxonomy; a profile brings files under `external:`."
)
REQUIRED = ("occupation_id", "title")
OPTIONAL = ("occupation_label", "codes", "language")


def read(params: TaxonomyParams, rejected: RejectedRows) -> Taxonomy:
    """Read `titles` and further files of `params.files` by the map `params.columns`."""
    further = [name for name in params.files if name.startswith("titles_")]
    files = named_files(params.files, ["titles"], further)
    columns = mapped_columns(
        _flat(params.columns), "ingest.taxonomy.columns", REQUIRED, (*OPTIONAL, *_more(params))
    )

    def rows(rejected_rows: RejectedRows) -> Iterator[Row]:
        for file in files.values():
            yield from read_rows(file, columns, ORIGIN, rejected_rows, params.format)

    return taxonomy_of(rows, [REQUIRED[1], *_more(params)], rejected)


def taxonomy_of(
    rows: Callable[[RejectedRows], Iterable[Row]], titles: Sequence[str], rejected: RejectedRows
) -> Taxonomy:
    """Build a taxonomy of rows, which are read twice; `titles` are our names of their titles."""
    taxonomy = Taxonomy(rejected)
    ids = whole_numbers({row["occupation_id"] for row in rows(RejectedRows())})
    for row in distinct(rows(rejected), rejected):
        key = ids[row["occupation_id"]]
        _add(taxonomy, row, key, [title for name in titles if (title := row[name])])
    return taxonomy


def _more(params: TaxonomyParams) -> list[str]:
    """Name the columns of titles behind the first."""
    titles = params.columns.get("title", "")
    return [] if isinstance(titles, str) else [f"title_{n}" for n in range(2, len(titles) + 1)]


def _flat(columns: Mapping[str, str | list[str]]) -> dict[str, str]:
    """Give each column of titles a name of its own; IngestError for a list under another name."""
    flat: dict[str, str] = {}
    for name, column in columns.items():
        if isinstance(column, str):
            flat[name] = column
        elif name != "title" or not column:
            raise IngestError(f"ingest.taxonomy.columns.{name}: {column}; name one column")
        else:
            flat |= {f"title_{n}" if n > 1 else name: one for n, one in enumerate(column, 1)}
    return flat


def _add(taxonomy: Taxonomy, row: Row, key: str, titles: Sequence[str]) -> None:
    label = row.values.get("occupation_label", "").strip()
    codes = [code.strip() for code in row.values.get("codes", "").split(">") if code.strip()]
    language = row.values.get("language", "").strip().lower()
    if not titles:
        taxonomy.rejected.refuse(row, empty("title"))
        return
    is_known = key in taxonomy.titles
    own = taxonomy.labels.get((key, language), label)
    if is_known and (
        label not in ("", taxonomy.label(key), own) or codes not in ([], taxonomy.codes[key])
    ):
        taxonomy.rejected.refuse(row, CONFLICT)
        return
    if not is_known or (label != taxonomy.label(key) and (key, language) not in taxonomy.labels):
        own = label or titles[0]
        if not taxonomy.add_occupation(row, key, own, codes, language):
            return
        titles = [title for title in titles if title != own]
    for title in titles:
        taxonomy.add_title(row, key, title, language)
