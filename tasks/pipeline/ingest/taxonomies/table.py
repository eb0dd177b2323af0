"""Any taxonomy in one CSV or Parquet file with one title a row, by a column map.

Our names: `occupation_id` and `title`, and if the file has them `occupation_label` and `codes`
(broad to narrow, separated by ``>``). Without a label an occupation's first title is its label.
A later row may leave label and codes empty; where it contradicts the first one it is refused.
Ids that all end in `.0` are whole numbers, as programs write them beside missing ones.
"""

from __future__ import annotations

from tasks.pipeline.ingest.params import TaxonomyParams
from tasks.pipeline.ingest.taxonomy import Taxonomy
from tasks.tables.cells import whole_numbers
from tasks.tables.read_table import distinct, read_rows
from tasks.tables.rejected import CONFLICT, RejectedRows, Row, empty
from tasks.tables.source_files import mapped_columns, named_files

ORIGIN = (
    "It is the file that ingest.taxonomy.files.titles names: correct the name, or columns, "
    "delimiter or encoding of ingest.taxonomy; a profile brings files under `external:`."
)
REQUIRED = ("occupation_id", "title")
OPTIONAL = ("occupation_label", "codes")


def read(params: TaxonomyParams, rejected: RejectedRows) -> Taxonomy:
    """Read the file `titles` of `params.files` by the map `params.columns`."""
    path = named_files(params.files, ["titles"])["titles"]
    columns = mapped_columns(params.columns, "ingest.taxonomy.columns", REQUIRED, OPTIONAL)
    taxonomy = Taxonomy(rejected)
    beforehand = read_rows(path, columns, ORIGIN, RejectedRows(), params.format)
    ids = whole_numbers({row["occupation_id"] for row in beforehand})
    for row in distinct(read_rows(path, columns, ORIGIN, rejected, params.format), rejected):
        _add(taxonomy, row, ids[row["occupation_id"]])
    return taxonomy


def _add(taxonomy: Taxonomy, row: Row, key: str) -> None:
    title = row["title"]
    label = row.values.get("occupation_label", "").strip()
    codes = [code.strip() for code in row.values.get("codes", "").split(">") if code.strip()]
    if not title:
        taxonomy.rejected.refuse(row, empty("title"))
    elif key in taxonomy.titles:
        if label not in ("", taxonomy.label(key)) or codes not in ([], taxonomy.codes[key]):
            taxonomy.rejected.refuse(row, CONFLICT)
        else:
            taxonomy.add_title(row, key, title)
    elif taxonomy.add_occupation(row, key, label or title, codes) and label not in ("", title):
        taxonomy.add_title(row, key, title)
