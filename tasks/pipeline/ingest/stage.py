"""Stage `ingest`: source files to occupations, aliases and raw inputs, and the rejected rows.

In: the files that `ingest.taxonomy` and `ingest.inputs` name. Out: five frames and counts. Raw
inputs are kept as received, in their order, identical ones too: their frequency is data.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple, Self

import polars as pl
from pydantic import model_validator

from tasks.io.command import run
from tasks.io.files import write_json
from tasks.io.frames import write_frame
from tasks.io.schemas import ALIASES, GROUPS, INPUTS, OCCUPATIONS, REJECTED
from tasks.io.section import Section, Share, load, require_below
from tasks.pipeline.ingest.taxonomy import FormatParams, TaxonomyParams, read_taxonomy
from tasks.tables.read_table import read_rows
from tasks.tables.rejected import UNKNOWN_OCCUPATION, RejectedRows, Row, empty, require_few_refused
from tasks.tables.source_files import IngestError, display_path, mapped_columns
from tasks.tables.text import line_rows
from tasks.tables.typed_tables import whole_number

FOLDER = Path("data/ingest")
ORIGIN = (
    "It is the file that ingest.inputs.file names: correct the name, or columns, delimiter or "
    "encoding of ingest.inputs; a profile brings files under `external:`."
)


class InputsParams(FormatParams):
    """Raw inputs: tables with named columns, files of one title a line, or none."""

    reader: Literal["table", "lines", "none"]
    file: str | list[str]
    columns: dict[str, str]

    @property
    def files(self) -> list[str]:
        """The file or files that are named."""
        return list(filter(None, [self.file] if isinstance(self.file, str) else self.file))


class IngestParams(Section):
    """Section `ingest`: all files lie in one folder, on which its stage depends."""

    NAME: ClassVar[str] = "ingest"
    folder: str
    taxonomy: TaxonomyParams
    inputs: InputsParams
    max_rejected_share: Share

    @model_validator(mode="after")
    def _files_are_in_the_folder(self) -> Self:
        require_below(self.folder, [*self.taxonomy.files.values(), *self.inputs.files], self.NAME)
        return self

    @property
    def located(self) -> tuple[TaxonomyParams, InputsParams]:
        """Both parts with the paths of their files."""
        folder = Path(self.folder)
        files = {name: (folder / file).as_posix() for name, file in self.taxonomy.files.items()}
        inputs = {"file": [(folder / file).as_posix() for file in self.inputs.files]}
        taxonomy = self.taxonomy.model_copy(update={"files": files})
        return taxonomy, self.inputs.model_copy(update=inputs)


class Ingested(NamedTuple):
    """Four frames, and the rows that were refused."""

    occupations: pl.DataFrame
    groups: pl.DataFrame
    aliases: pl.DataFrame
    inputs: pl.DataFrame
    rejected: RejectedRows

    def counts(self) -> dict[str, int | dict[str, int]]:
        """Return what `metrics.json` holds."""
        return {
            **{name: len(getattr(self, name)) for name in ("occupations", "aliases", "inputs")},
            "inputs_labelled": self.inputs["occupation_id"].count(),
            "rows_read": dict(sorted(self.rejected.rows.items())),
            "rejected": self.rejected.reasons(),
            "rejected_errors": self.rejected.errors,
        }


def ingest(params: IngestParams) -> Ingested:
    """Read everything; IngestError if a file or a column is missing."""
    rejected, (of_taxonomy, of_inputs) = RejectedRows(), params.located
    taxonomy = read_taxonomy(of_taxonomy, rejected)
    inputs = read_inputs(of_inputs, taxonomy.titles, rejected)
    frames = taxonomy.occupations(), taxonomy.labelled_groups(), taxonomy.aliases(), inputs
    return Ingested(*frames, rejected)


def read_inputs(
    params: InputsParams, known: Container[str], rejected: RejectedRows
) -> pl.DataFrame:
    """Read the files that `params` name; see `inputs_of`."""
    return inputs_of(_rows(params, rejected), known, rejected)


def inputs_of(rows: Iterable[Row], known: Container[str], rejected: RejectedRows) -> pl.DataFrame:
    """Return columns of `INPUTS`; refuse rows whose occupation is none of `known`.

    `input_id` counts the accepted rows, from 0. `2231.0` is the id `2231`, unless one itself.
    """
    taken = list[tuple[int, str, str | None]]()
    for row in rows:
        occupation_id = row.values.get("occupation_id", "").strip()
        if occupation_id not in known:
            occupation_id = whole_number(occupation_id)
        if not row["raw_title"]:
            rejected.refuse(row, empty("raw_title"))
        elif occupation_id and occupation_id not in known:
            rejected.refuse(row, UNKNOWN_OCCUPATION)
        else:
            taken.append((len(taken), row.values["raw_title"], occupation_id or None))
    return pl.DataFrame(taken, schema=INPUTS, orient="row")


def _rows(params: InputsParams, rejected: RejectedRows) -> Iterator[Row]:
    if params.reader == "none":
        return
    if params.reader == "lines":
        for file in params.files:
            yield from line_rows(Path(file), "raw_title", ORIGIN, rejected, params.encoding)
        return
    names = "ingest.inputs.columns", ["raw_title"], ["occupation_id"]
    columns = mapped_columns(params.columns, *names)
    for file in params.files:
        yield from read_rows(Path(file), columns, ORIGIN, rejected, params.format)


def require_usable(ingested: Ingested, params: IngestParams) -> None:
    """Raise an IngestError: under two occupations, no inputs in their files, or too many faults."""
    taxonomy, inputs = params.located
    if ingested.occupations.height < 2:
        how = "is empty" if ingested.occupations.is_empty() else "has one occupation only"
        there = _what_was_in(taxonomy.files.values(), ingested)
        raise IngestError(
            f"the taxonomy {how}: there is nothing to tell apart. {there}. Add titles of other "
            "occupations, or name another file in ingest.taxonomy.files."
        )
    if inputs.reader != "none" and ingested.inputs.is_empty():
        raise IngestError(
            f"there are no raw inputs. {_what_was_in(inputs.files, ingested)}. Name another file "
            "in ingest.inputs.file, or set ingest.inputs.reader: none."
        )
    require_few_refused(ingested.rejected, params.max_rejected_share, params.NAME)


def _what_was_in(files: Iterable[str], ingested: Ingested) -> str:
    """Say of each file how many rows it has, and why some were refused."""
    parts, reasons = [], ingested.rejected.by_file()
    for file in (display_path(Path(file)) for file in files):
        rows = ingested.rejected.rows[file]
        refused = f", refused: {reasons[file]}" if file in reasons else ""
        read = f"{rows} rows{refused}" if rows else "no rows, a header at most"
        parts.append(f"{file} has {read}")
    return ", ".join(parts) + ingested.rejected.likely_cause().rstrip(".")


def main() -> None:
    """Run the stage in the working directory; rejected rows are written even if it fails."""
    params = load(IngestParams)
    ingested = ingest(params)
    write_frame(ingested.rejected.frame(), FOLDER / "rejected.parquet", REJECTED)
    print(*ingested.rejected.read_as(), sep="\n")
    require_usable(ingested, params)
    write_frame(ingested.occupations, FOLDER / "occupations.parquet", OCCUPATIONS)
    write_frame(ingested.groups, FOLDER / "groups.parquet", GROUPS)
    write_frame(ingested.aliases, FOLDER / "aliases.parquet", ALIASES)
    write_frame(ingested.inputs, FOLDER / "inputs.parquet", INPUTS)
    write_json(ingested.counts(), FOLDER / "metrics.json")


if __name__ == "__main__":
    run(main)
