"""Stage `ingest`: source files to occupations, aliases and raw inputs, and the rejected rows.

In: the files that `ingest.taxonomy` and `ingest.inputs` name. Out: five frames and counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from tasks.io.command import run
from tasks.io.frames import write_frame, write_json
from tasks.io.schemas import ALIASES, GROUPS, INPUTS, OCCUPATIONS, REJECTED
from tasks.io.section import load
from tasks.pipeline.ingest.inputs import read_inputs
from tasks.pipeline.ingest.params import IngestParams
from tasks.pipeline.ingest.taxonomies import read_taxonomy
from tasks.tables.rejected import RejectedRows, require_few_refused
from tasks.tables.source_files import IngestError, display_path

FOLDER = Path("data/ingest")


@dataclass(frozen=True)
class Ingested:
    """Four frames, and the rows that were refused."""

    occupations: pl.DataFrame
    groups: pl.DataFrame
    aliases: pl.DataFrame
    inputs: pl.DataFrame
    rejected: RejectedRows

    def counts(self) -> dict[str, int | dict[str, int]]:
        """Return what `metrics.json` holds."""
        return {
            "occupations": self.occupations.height,
            "aliases": self.aliases.height,
            "inputs": self.inputs.height,
            "inputs_labelled": self.inputs["occupation_id"].count(),
            "rows_read": dict(sorted(self.rejected.rows.items())),
            "rejected": self.rejected.reasons(),
            "rejected_errors": self.rejected.errors,
        }


def ingest(params: IngestParams) -> Ingested:
    """Read everything; rows that cannot be used are in `rejected`, with file, line and reason.

    Raises:
        IngestError: a file or a column is missing; the message names it and where it comes from.
    """
    rejected_rows = RejectedRows()
    taxonomy_params, inputs_params = params.located
    taxonomy = read_taxonomy(taxonomy_params, rejected_rows)
    inputs = read_inputs(inputs_params, taxonomy.titles, rejected_rows)
    frames = taxonomy.occupations(), taxonomy.labelled_groups(), taxonomy.aliases(), inputs
    return Ingested(*frames, rejected_rows)


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
            f"there are no raw inputs. {_what_was_in(inputs.files, ingested)}. Name another file "
            "in ingest.inputs.file, or set ingest.inputs.reader: none."
        )
    require_few_refused(ingested.rejected, params.max_rejected_share, params.NAME)


def _what_was_in(files: Iterable[str], ingested: Ingested) -> str:
    """Say of each file how many rows it has, and why some were refused."""
    parts = []
    for file in (display_path(Path(file)) for file in files):
        rows = ingested.rejected.rows[file]
        reasons = ingested.rejected.by_file().get(file)
        refused = f", refused: {reasons}" if reasons else ""
        parts.append(
            f"{file} has {rows} rows{refused}" if rows else f"{file} has no rows, a header at most"
        )
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
