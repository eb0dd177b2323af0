"""Stage `teacher`: a sentence encoder's vectors of the training titles, and of their words alone.

In: strings and pairs of the mix `extra_words`, which hold all training titles before feedback. Out:
`data/teacher/titles.parquet` (``title, vector, nearest``) of all strings but typos and the
auxiliary taxonomy's noisy copies, which no encoder can read, and `words.parquet` (``word,
vector``), distinct and sorted, vectors of unit norm in half precision, `nearest` the rows of the
`teacher.nearest` aliases nearest to a title; empty with the kind `none`. The encoder sees no query
of a test. With `tuning.steps` it is tuned on the pairs first.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from models.network.kinds import loss_settings
from models.network.loss import LossSettings
from models.reproducibility.seeding import child_seed
from models.text.featurizer import Vocabulary
from models.text.units import UnitSettings
from models.training.batches import read_pairs
from models.training.strings import read_strings
from tasks.io.command import print_counts, run
from tasks.io.frames import read_frame, write_json
from tasks.io.mixes import DATA, LAST
from tasks.io.schemas import STRINGS
from tasks.io.section import load, load_run
from tasks.pipeline.teacher.params import TeacherParams
from tasks.pipeline.teacher.sentence_encoder import sentence_encoder
from tasks.pipeline.teacher.tuning import tune
from tasks.pipeline.teacher.vectors import (
    NO_ROWS,
    NO_VECTORS,
    nearest_rows,
    vectors,
    write_vectors,
)
from tasks.pipeline.train.network_params import NetworkParams

FOLDER = DATA / "teacher"
NOT_TAUGHT = ("valid", "typo", "noisy_auxiliary")  # roles of strings that no teacher embeds
WORDS = UnitSettings("word", max_length=100)  # whole, as a featurizer finds them


def teach(
    pairs: Path, params: TeacherParams, loss: LossSettings, seed: int, out: Path
) -> dict[str, int]:
    """Write the vectors of the titles of a folder of pairs, and of their words; count them.

    `pairs`: folder with `strings.parquet` and `pairs.parquet`; `params`: section `teacher`; `out`:
    where `titles.parquet`, with the aliases nearest to a title, and `words.parquet` are written.
    """
    encoder, file = sentence_encoder(), pairs / "strings.parquet"
    if params.tuning.steps:
        similar = read_pairs(pairs / "pairs.parquet", with_dissimilar=loss.reads_dissimilar)
        tune(encoder, read_strings(file), similar, loss, params.tuning, child_seed(seed, "teacher"))
    strings = read_frame(file, STRINGS)
    titles = sorted(set(strings.filter(~pl.col("role").is_in(NOT_TAUGHT))["title"]))
    words, embedded = list(Vocabulary.fit(titles, WORDS).known), vectors(titles, encoder, "titles")
    aliases = pl.Series(titles).is_in(strings.filter(role="alias")["title"].implode())
    nearest = nearest_rows(embedded, aliases.arg_true().to_numpy(), params.nearest)
    write_vectors(titles, embedded, "title", out, nearest)
    write_vectors(words, vectors(words, encoder, "words"), "word", out)
    return {"titles": len(titles), "words": len(words)}


def main() -> None:
    """Run the stage on its files."""
    params, counts = load(TeacherParams), {"titles": 0, "words": 0}
    if params.teaches:
        network = NetworkParams.read()
        kind = network.train.loss.kind
        loss = loss_settings({"kind": kind, **network.losses[kind]})
        counts = teach(DATA / "pairs" / LAST, params, loss, load_run().seed, FOLDER)
    else:
        write_vectors([], NO_VECTORS, "title", FOLDER, NO_ROWS)
        write_vectors([], NO_VECTORS, "word", FOLDER)
    write_json(counts, FOLDER / "metrics.json")
    print_counts(counts)


if __name__ == "__main__":
    run(main)
