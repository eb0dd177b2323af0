"""Stage `ingest`: outside files to occupations, aliases and raw inputs, and what was refused.

In: the files that `ingest.taxonomy` and `ingest.inputs` name. Out: four frames (schemas in
`tasks.schemas`) and counts. Splits and tests are the next stage's.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from tasks.command import run
from tasks.frames import write_frame, write_json
from tasks.params import load_params
from tasks.readers.esco import read_esco
from tasks.readers.inputs import read_inputs
from tasks.readers.onet import read_onet
from tasks.readers.outside import IngestError
from tasks.readers.rejected import NOTICES, Ledger
from tasks.readers.sample import read_sample
from tasks.readers.table import read_table
from tasks.schemas import ALIASES, INPUTS, OCCUPATIONS, REJECTED
from tasks.sections import IngestParams

READERS = {"sample": read_sample, "esco": read_esco, "onet": read_onet, "table": read_table}
FOLDER = Path("data/ingest")


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
        """What `metrics.json` holds."""
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
    taxonomy = READERS[params.taxonomy.reader](params.taxonomy, ledger)
    inputs = read_inputs(params.inputs, taxonomy.titles, ledger)
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
        found = "is empty" if ingested.occupations.is_empty() else "has one occupation only"
        raise IngestError(
            f"the taxonomy {found}: there is nothing to tell apart. Read: {ingested.rows_read}, "
            f"rejected: {ingested.reasons}; check ingest.taxonomy in params.yaml."
        )


def main() -> None:
    """Run the stage in the working directory; rejected rows are written even if it fails."""
    params = load_params().ingest
    ingested = ingest(params)
    write_frame(ingested.rejected, FOLDER / "rejected.parquet", REJECTED)
    require_usable(ingested, params.max_rejected_share)
    write_frame(ingested.occupations, FOLDER / "occupations.parquet", OCCUPATIONS)
    write_frame(ingested.aliases, FOLDER / "aliases.parquet", ALIASES)
    write_frame(ingested.inputs, FOLDER / "inputs.parquet", INPUTS)
    write_json(ingested.counts(), FOLDER / "metrics.json")


if __name__ == "__main__":
    run(main)
