"""Stage `teacher`: what a sentence encoder says of the training titles, and of their words alone.

In: strings and pairs of mix 3, which hold all that is trained on before people are asked. Out:
`data/teacher/titles.parquet` (``title, vector``) of all of its strings but typos, which a teacher
cannot read, and `words.parquet` (``word, vector``), distinct and sorted, vectors of unit norm in
half precision; empty with the kind `none`. No query of a test is asked. With `tuning.steps` the
encoder is tuned on the pairs first.
"""

from __future__ import annotations

from pathlib import Path

from models.network.kinds import loss_settings
from models.repeatable.seeding import child_seed
from models.training.batches import read_pairs
from models.training.strings import read_strings
from tasks.files.command import run
from tasks.files.counts import say
from tasks.files.frames import read_frame, write_json
from tasks.files.schemas import STRINGS
from tasks.params.network import NetworkParams
from tasks.params.section import load, load_run
from tasks.params.teaching import TeacherParams
from tasks.teacher.sentence_encoder import sentence_encoder
from tasks.teacher.tuning import tune
from tasks.teacher.vectors import NO_VECTORS, taught_titles, vectors, whole_words, write_vectors

FOLDER = Path("data/teacher")
PAIRS = Path("data/pairs/3")


def main() -> None:
    """Run the stage on its files."""
    params, titles, encoder = load(TeacherParams), [], None
    if params.teaches:
        encoder = sentence_encoder()
        titles = taught_titles(read_frame(PAIRS / "strings.parquet", STRINGS))
    if encoder and params.tuning.steps:
        network = NetworkParams.read()
        kind = network.train.loss.kind
        loss = loss_settings({"kind": kind, **network.losses[kind]})
        strings = read_strings(PAIRS / "strings.parquet")
        pairs = read_pairs(PAIRS / "pairs.parquet", with_dissimilar=loss.reads_dissimilar)
        tune(encoder, strings, pairs, loss, params.tuning, child_seed(load_run().seed, "teacher"))
    counts = {}
    for column, texts in (("title", titles), ("word", whole_words(titles))):
        table = vectors(texts, encoder, f"{column}s") if encoder else NO_VECTORS
        write_vectors(texts, table, column, FOLDER)
        counts[f"{column}s"] = len(texts)
    write_json(counts, FOLDER / "metrics.json")
    say(counts)


if __name__ == "__main__":
    run(main)
