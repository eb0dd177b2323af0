"""What people said so far, as files in a folder that the stage `feedback` reads.

In: titles that a person was asked, with the answer that was shown and the occupation that is right.
Out: a table of feedback for each week, and what the stage makes of all of them: verdicts to learn
from, judged titles, what is looked up, and the gate's queries. A title that was given no answer is
given one: a correction of nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import polars as pl

from benchmarks.studies.loop.stream import Stream
from tasks.feedback import Judged, feedback, require_usable
from tasks.files.frames import write_frame
from tasks.files.schemas import FEEDBACK

FIRST_DAY = date(2026, 1, 5)
"""Of the first week."""


@dataclass(frozen=True)
class People:
    """Who is asked in an arm.

    Attributes:
        stream: of whose titles they are asked.
        folder: of their files.
    """

    stream: Stream
    folder: Path

    def say(self, asked: pl.DataFrame, week: int) -> None:
        """Write a person's verdict on each title.

        Args:
            asked: `raw_title`, what it was answered (`answer, matched_title`), and `said`.
            week: in which they are asked, from 1.
        """
        day = FIRST_DAY + timedelta(weeks=week - 1)
        right = pl.col("answer").eq_missing(pl.col("said"))
        rows = asked.select(
            "raw_title",
            "matched_title",
            predicted_occupation_id="answer",
            model_version=pl.lit("champion"),
            verdict=pl.when(right).then(pl.lit("right")).otherwise(pl.lit("wrong")),
            corrected_occupation_id=pl.when(~right).then("said"),
            reviewer_id=pl.lit("person"),
            judged_at=pl.lit(day.isoformat()),
        )
        file = self.folder / f"week-{week:02}.parquet"
        write_frame(rows.select(list(FEEDBACK)), file, FEEDBACK)

    def heard(self) -> Judged:
        """Return what the stage makes of all files; none may hold a row that is refused."""
        self.folder.mkdir(parents=True, exist_ok=True)
        changes = {"folder": str(self.folder), "own": False, "columns": {}}
        params = self.stream.workspace.params.feedback.model_copy(update=changes)
        stream = self.stream
        made = feedback(params, stream.aliases, stream.queried, stream.trained)
        require_usable(made, 0)
        return made
