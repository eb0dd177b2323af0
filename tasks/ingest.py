"""Stage `ingest`: outside files to occupations, aliases and raw inputs, and what was refused.

In: the files that `ingest.taxonomy` and `ingest.inputs` name. Out: four frames (schemas in
`tasks.files.schemas`) and counts. Splits and tests are the next stage's.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

import polars as pl
from pydantic import AfterValidator, model_validator

from tasks.files.command import run
from tasks.files.frames import write_frame, write_json
from tasks.files.schemas import ALIASES, INPUTS, OCCUPATIONS, REJECTED
from tasks.params.section import Params, Section, Share, load, require_below
from tasks.readers.inputs import read_inputs
from tasks.readers.outside import IngestError
from tasks.readers.rejected import NOTICES, Ledger
from tasks.readers.taxonomies import checked_reader, taxonomy_reader

FOLDER = Path("data/ingest")


class TaxonomyParams(Params):
    """Which format, which files (its own names to names in the folder), which columns (`table`)."""

    reader: Annotated[str, AfterValidator(checked_reader)]
    files: dict[str, str]
    columns: dict[str, str]


class InputsParams(Params):
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
    """The four frames and how many rows each file gave."""

    occupations: pl.DataFrame
    aliases: pl.DataFrame
    inputs: pl.DataFrame
    rejected: pl.DataFrame
    rows_read: dict[str, int]
    reasons: dict[str, int]

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
    ledger = Ledger()
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
    )


def require_usable(ingested: Ingested, max_rejected_share: float) -> None:
    """Refuse what no later stage can work with.

    Raises:
        IngestError: more faulty rows than `max_rejected_share` of all rows read; no occupation;
            only one.
    """
    read = sum(ingested.rows_read.values())
    if ingested.errors > max_rejected_share * read:
        raise IngestError(
            f"{ingested.errors} of {read} rows were rejected, more than ingest.max_rejected_share "
            f"= {max_rejected_share:g}: {ingested.reasons}. Look at {FOLDER}/rejected.parquet; "
            "mend the files or raise the parameter."
        )
    if ingested.occupations.height < 2:
        how = "is empty" if ingested.occupations.is_empty() else "has one occupation only"
        raise IngestError(
            f"the taxonomy {how}: there is nothing to tell apart. Read: {ingested.rows_read}, "
            f"rejected: {ingested.reasons}; check ingest.taxonomy in params.yaml."
        )


def main() -> None:
    """Run the stage in the working directory; rejected rows are written even if it fails."""
    params = load(IngestParams)
    ingested = ingest(params)
    write_frame(ingested.rejected, FOLDER / "rejected.parquet", REJECTED)
    require_usable(ingested, params.max_rejected_share)
    write_frame(ingested.occupations, FOLDER / "occupations.parquet", OCCUPATIONS)
    write_frame(ingested.aliases, FOLDER / "aliases.parquet", ALIASES)
    write_frame(ingested.inputs, FOLDER / "inputs.parquet", INPUTS)
    write_json(ingested.counts(), FOLDER / "metrics.json")


if __name__ == "__main__":
    run(main)
