"""Stage `ingest`: outside files to occupations, aliases and raw inputs, and what was refused.

In: the files that `ingest.taxonomy` and `ingest.inputs` name. Out: four frames (schemas in
`tasks.files.schemas`) and counts. Splits and tests are the next stage's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

import polars as pl
from pydantic import AfterValidator, model_validator

from tasks.files.command import run
from tasks.files.frames import write_frame, write_json
from tasks.files.schemas import ALIASES, INPUTS, OCCUPATIONS, REJECTED
from tasks.params.section import Params, Section, Share, load, require_below
from tasks.readers.delimiters import checked_delimiter, checked_encoding
from tasks.readers.inputs import read_inputs
from tasks.readers.records import Format
from tasks.readers.rejected import NOTICES, RejectedRows
from tasks.readers.source_files import IngestError, shown
from tasks.readers.taxonomies import checked_reader, taxonomy_reader

FOLDER = Path("data/ingest")


class FormatParams(Params):
    """How a table of text is read; an empty value is what the file is found to have."""

    delimiter: Annotated[str, AfterValidator(checked_delimiter)]
    encoding: Annotated[str, AfterValidator(checked_encoding)]

    @property
    def format(self) -> Format:
        """Both as readers take them."""
        return Format(self.delimiter, self.encoding)


class TaxonomyParams(FormatParams):
    """Which format, which files (its own names to names in the folder), which columns (`table`)."""

    reader: Annotated[str, AfterValidator(checked_reader)]
    files: dict[str, str]
    columns: dict[str, str]


class InputsParams(FormatParams):
    """Raw inputs: a table with named columns, one title a line, or none."""

    reader: Literal["table", "lines", "none"]
    file: str
    columns: dict[str, str]


class IngestParams(Section):
    """Section `ingest`: all files lie in one folder, which DVC watches."""

    NAME: ClassVar[str] = "ingest"
    folder: str
    taxonomy: TaxonomyParams
    inputs: InputsParams
    max_rejected_share: Share

    @model_validator(mode="after")
    def _files_are_in_the_folder(self) -> Self:
        require_below(self.folder, [*self.taxonomy.files.values(), self.inputs.file], self.NAME)
        return self

    @property
    def located(self) -> tuple[TaxonomyParams, InputsParams]:
        """Both parts with the paths of their files."""
        folder = Path(self.folder)
        files = {name: (folder / file).as_posix() for name, file in self.taxonomy.files.items()}
        file = self.inputs.file and (folder / self.inputs.file).as_posix()
        return (
            self.taxonomy.model_copy(update={"files": files}),
            self.inputs.model_copy(update={"file": file}),
        )


@dataclass(frozen=True)
class Ingested:
    """The four frames, how many rows each file gave, and how each was read."""

    occupations: pl.DataFrame
    aliases: pl.DataFrame
    inputs: pl.DataFrame
    rejected: pl.DataFrame
    rows_read: dict[str, int]
    reasons: dict[str, int]
    read_as: list[str]
    likely_cause: str

    @property
    def errors(self) -> int:
        """Rows refused for a fault; notices (merged duplicates, empty rows) are none."""
        return sum(count for reason, count in self.reasons.items() if reason not in NOTICES)

    def counts(self) -> dict[str, int | dict[str, int]]:
        """Return what `metrics.json` holds."""
        return {
            "occupations": self.occupations.height,
            "aliases": self.aliases.height,
            "inputs": self.inputs.height,
            "inputs_labelled": self.inputs["occupation_id"].count(),
            "rows_read": self.rows_read,
            "rejected": self.reasons,
            "rejected_errors": self.errors,
        }


def ingest(params: IngestParams) -> Ingested:
    """Read everything; rows that cannot be used are in `rejected`, with file, line and reason.

    Raises:
        IngestError: a file or a column is missing; the message names it and where it comes from.
    """
    ledger = RejectedRows()
    taxonomy_params, inputs_params = params.located
    taxonomy = taxonomy_reader(params.taxonomy.reader)(taxonomy_params, ledger)
    inputs = read_inputs(inputs_params, taxonomy.titles, ledger)
    return Ingested(
        occupations=taxonomy.occupations(),
        aliases=taxonomy.aliases(),
        inputs=inputs,
        rejected=ledger.frame(),
        rows_read=dict(sorted(ledger.rows.items())),
        reasons=ledger.reasons(),
        read_as=ledger.read_as(),
        likely_cause=ledger.likely_cause(),
    )


def require_usable(ingested: Ingested, params: IngestParams) -> None:
    """Refuse what no later stage can work with; the taxonomy is blamed before what rests on it.

    Raises:
        IngestError: no occupation, or only one; a file of inputs that gave none; more faulty rows
            than `max_rejected_share` of all rows read.
    """
    taxonomy, inputs = params.located
    if ingested.occupations.height < 2:
        how = "is empty" if ingested.occupations.is_empty() else "has one occupation only"
        raise IngestError(
            f"the taxonomy {how}: there is nothing to tell apart. "
            f"{_what_was_in(taxonomy.files.values(), ingested)}. Add titles of other occupations, "
            "or name another file in ingest.taxonomy.files."
        )
    if inputs.reader != "none" and ingested.inputs.is_empty():
        raise IngestError(
            f"there are no raw inputs. {_what_was_in([inputs.file], ingested)}. Name another file "
            "in ingest.inputs.file, or set ingest.inputs.reader: none."
        )
    read = sum(ingested.rows_read.values())
    if ingested.errors > params.max_rejected_share * read:
        raise IngestError(
            f"{ingested.errors} of {read} rows were rejected, more than ingest.max_rejected_share "
            f"= {params.max_rejected_share:g}: {ingested.reasons}. Look at "
            f"{FOLDER}/rejected.parquet; mend the files or raise the parameter."
            f"{ingested.likely_cause}"
        )


def _what_was_in(files: Iterable[str], ingested: Ingested) -> str:
    """Say of each file how many rows it has, and why some were refused."""
    said = []
    for file in (shown(Path(file)) for file in files):
        rows = ingested.rows_read.get(file, 0)
        reasons = Counter(ingested.rejected.filter(pl.col("file") == file)["reason"])
        refused = ", refused: " + str(dict(sorted(reasons.items()))) if reasons else ""
        said.append(
            f"{file} has {rows} rows{refused}" if rows else f"{file} has no rows, a header at most"
        )
    return ", ".join(said) + ingested.likely_cause.rstrip(".")


def main() -> None:
    """Run the stage in the working directory; rejected rows are written even if it fails."""
    params = load(IngestParams)
    ingested = ingest(params)
    write_frame(ingested.rejected, FOLDER / "rejected.parquet", REJECTED)
    print(*ingested.read_as, sep="\n")
    require_usable(ingested, params)
    write_frame(ingested.occupations, FOLDER / "occupations.parquet", OCCUPATIONS)
    write_frame(ingested.aliases, FOLDER / "aliases.parquet", ALIASES)
    write_frame(ingested.inputs, FOLDER / "inputs.parquet", INPUTS)
    write_json(ingested.counts(), FOLDER / "metrics.json")


if __name__ == "__main__":
    run(main)
