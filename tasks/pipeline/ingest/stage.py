"""Stage `ingest`: outside files to occupations, aliases and raw inputs, and what was refused.

In: the files that `ingest.taxonomy` and `ingest.inputs` name. Out: four frames (schemas in
`tasks.io.schemas`) and counts. Splits and tests are the next stage's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from tasks.io.command import run
from tasks.io.frames import write_frame, write_json
from tasks.io.schemas import ALIASES, INPUTS, OCCUPATIONS, REJECTED
from tasks.io.section import load
from tasks.pipeline.ingest.inputs import read_inputs
from tasks.pipeline.ingest.params import IngestParams
from tasks.pipeline.ingest.taxonomies import taxonomy_reader
from tasks.tables.rejected import NOTICES, RejectedRows
from tasks.tables.source_files import IngestError, shown

FOLDER = Path("data/ingest")


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
    rejected_rows = RejectedRows()
    taxonomy_params, inputs_params = params.located
    taxonomy = taxonomy_reader(params.taxonomy.reader)(taxonomy_params, rejected_rows)
    inputs = read_inputs(inputs_params, taxonomy.titles, rejected_rows)
    return Ingested(
        occupations=taxonomy.occupations(),
        aliases=taxonomy.aliases(),
        inputs=inputs,
        rejected=rejected_rows.frame(),
        rows_read=dict(sorted(rejected_rows.rows.items())),
        reasons=rejected_rows.reasons(),
        read_as=rejected_rows.read_as(),
        likely_cause=rejected_rows.likely_cause(),
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
            f"{FOLDER}/rejected.parquet; repair the files or raise the parameter."
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
