"""A person who reviews some of a week's titles, and their feedback as the pipeline reads it.

`queue` are the titles that `rolecall review` chooses, `random` are titles of inputs drawn one
by one, and with `nothing` nobody reviews. A person confirms the champion's answer or corrects it to
the label. The choice does not see the labels.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import starmap
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmarks.studies.loop.stream import Stream
from benchmarks.systems import CHAMPION
from models.reproducibility.seeding import generator
from tasks.apps.review.build_queue import chosen
from tasks.apps.review.candidates import pooled
from tasks.io.frames import write_frame
from tasks.io.schemas import FEEDBACK
from tasks.pipeline.feedback.stage import Judged, feedback, require_usable
from tasks.pipeline.simulate_feedback.params import SimulateFeedbackParams
from tasks.pipeline.simulate_feedback.stage import Prediction, judge

QUEUE, RANDOM, NOTHING = "queue", "random", "nothing"
FIRST_DAY = date(2026, 1, 5)
"""Of the first week."""


class Week(NamedTuple):
    """The titles to choose from.

    Attributes:
        titles: distinct, `normalized, raw_title, cleaned, rows` and the columns of answers.
        embed: cleaned titles to the champion's embeddings of unit norm.
        temperature: of the champion's scores.
        seed: of random choices.
        number: of the week, from 1.
    """

    titles: pl.DataFrame
    embed: Callable[[list[str]], np.ndarray]
    temperature: float
    seed: int
    number: int


def first_in_queue(week: Week, budget: int) -> list[str]:
    """Return the normalized titles of the queue that `rolecall review` makes of the week."""
    names = week.titles["normalized"]
    hashes = [zlib.crc32(name.encode("utf-8", "surrogatepass")) for name in names]
    titles = week.titles.with_columns(
        pl.Series("hash", hashes, pl.UInt32),
        pl.col("answer").alias("occupation_id"),
        earlier_occupation_id=pl.lit(None, pl.String),
    )
    pool = pooled([titles], budget)
    cleaned = week.titles.select("normalized", "cleaned")
    named = pool.join(cleaned, on="normalized", maintain_order="left")["cleaned"]
    embeddings = week.embed(named.to_list())
    return chosen(pool, embeddings, week.temperature, budget)["normalized"].to_list()


def random_titles(week: Week, budget: int) -> list[str]:
    """Return titles of inputs drawn one by one; repeated ones are skipped."""
    rng = generator(week.seed, "loop", RANDOM, str(week.number))
    inputs = np.repeat(np.arange(len(week.titles)), week.titles["rows"].to_numpy())
    places = dict.fromkeys(rng.permutation(inputs).tolist())
    return week.titles[[*places][:budget]]["normalized"].to_list()


SELECTIONS: dict[str, Callable[[Week, int], list[str]]] = {
    QUEUE: first_in_queue,
    RANDOM: random_titles,
}


@dataclass(frozen=True)
class Reviewer:
    """Feedback files of an arm below `folder`, a file a week."""

    stream: Stream
    folder: Path

    def write(self, titles: pl.DataFrame, week: int) -> None:
        """Write a week's verdicts; `titles`: `raw_title, answer, matched_title, label`."""
        day = FIRST_DAY + timedelta(weeks=week - 1)
        params = SimulateFeedbackParams(reviewer_id="person", judged_at=day.isoformat())
        answers = titles.select("answer", "matched_title").iter_rows()
        labelled, labels = titles.with_columns(occupation_id="label"), set(titles["label"])
        rows = judge(labelled, [*starmap(Prediction, answers)], labels, CHAMPION, params)
        write_frame(rows, self.folder / f"week-{week:02}.parquet", FEEDBACK)

    def read(self) -> Judged:
        """Read all files as the stage `feedback` does; none may hold a rejected row."""
        self.folder.mkdir(parents=True, exist_ok=True)
        changes = {"folder": str(self.folder), "from_labels": False, "columns": {}}
        stream = self.stream
        params = stream.workspace.params.feedback.model_copy(update=changes)
        made = feedback(params, stream.aliases, stream.queried, stream.trained)
        require_usable(made, 0)
        return made
