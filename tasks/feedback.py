"""People's feedback on predictions to verdicts that contradict nobody (for mixes 4 and 4c).

In: the file that `feedback.file` names (by default what the stage `score` wrote),
`data/split/aliases.parquet` and all queries. Out: `data/feedback/verdicts.parquet`,
`rejected.parquet` and counts. How a file is read: `tasks/readers/feedback.py`; the rules that make
one opinion of many: `tasks/pairing/verdicts.py`. Neculoiu et al. 2016, section 4.2, point 4.
"""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import polars as pl

from tasks.files.command import run
from tasks.files.frames import read_frame, write_frame, write_json
from tasks.files.queries import queried_strings
from tasks.files.schemas import REJECTED, SPLIT_ALIASES, VERDICTS
from tasks.pairing.verdicts import resolve
from tasks.params.section import Section, Share, load
from tasks.readers.feedback import read_feedback
from tasks.readers.outside import IngestError
from tasks.readers.rejected import NOTICES, Ledger

FOLDER = Path("data/feedback")


class FeedbackParams(Section):
    """Section `feedback`: where people's verdicts stand."""

    NAME: ClassVar[str] = "feedback"
    reader: Literal["table"]
    file: str
    columns: dict[str, str]
    max_rejected_share: Share


class Judged(NamedTuple):
    """`VERDICTS`, `REJECTED`, rows read and refused for a fault, counts, how the file was read."""

    verdicts: pl.DataFrame
    rejected: pl.DataFrame
    read: int
    errors: int
    counts: dict[str, int | dict[str, int]]
    read_as: list[str]


def feedback(params: FeedbackParams, aliases: pl.DataFrame, queries: Container[str]) -> Judged:
    """Read the file and resolve it; rows that cannot be used are in `rejected`.

    Args:
        params: section `feedback`.
        aliases: schema `SPLIT_ALIASES`.
        queries: normalized strings of all queries, which no verdict may hold.

    Raises:
        IngestError: the file or a column is missing, or `feedback.columns` does not fit.
    """
    ledger = Ledger()
    opinions = read_feedback(params, aliases, ledger)
    resolved = resolve(opinions.frame, aliases, queries)
    reasons, read = ledger.reasons(), ledger.rows.total()
    errors = sum(count for reason, count in reasons.items() if reason not in NOTICES)
    counts: dict[str, int | dict[str, int]] = {
        "rows_read": read,
        "rejected": reasons,
        "mended": opinions.mended,
        **resolved.counts,
    }
    return Judged(resolved.verdicts, ledger.frame(), read, errors, counts, ledger.read_as())


def require_usable(judged: Judged, max_rejected_share: float) -> None:
    """Refuse a file that is not what it should be.

    Raises:
        IngestError: more faulty rows than `max_rejected_share` of all rows read.
    """
    if judged.errors > max_rejected_share * judged.read:
        raise IngestError(
            f"{judged.errors} of {judged.read} rows were rejected, more than "
            f"feedback.max_rejected_share = {max_rejected_share:g}: {judged.counts['rejected']}. "
            f"Look at {FOLDER}/rejected.parquet; mend the file or raise the parameter."
        )


def main() -> None:
    """Run the stage on its files; rejected rows are written even if it fails."""
    params = load(FeedbackParams)
    aliases = read_frame(Path("data/split/aliases.parquet"), SPLIT_ALIASES)
    queries = queried_strings()
    judged = feedback(params, aliases, queries)
    print(*judged.read_as, sep="\n")
    write_frame(judged.rejected, FOLDER / "rejected.parquet", REJECTED)
    require_usable(judged, params.max_rejected_share)
    write_frame(judged.verdicts, FOLDER / "verdicts.parquet", VERDICTS)
    write_json(judged.counts, FOLDER / "metrics.json")
    print(judged.counts)


if __name__ == "__main__":
    run(main)
