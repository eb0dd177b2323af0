"""Stage `teacher`: a sentence encoder's vectors of the training titles, and of their words alone.

In: strings and pairs of the mix `extra_words`, which hold all training titles before feedback. Out:
`data/teacher/titles.parquet` (``title, vector, nearest``) of all strings but typos and the
auxiliary taxonomy's noisy copies, which no encoder can read, and `words.parquet` (``word,
vector``), distinct and sorted, vectors of unit norm in half precision, `nearest` the rows of the
`teacher.nearest` aliases nearest to a title; empty with the kind `none`. The encoder sees no query
of a test. With `tuning.steps` it is tuned on the pairs first.
"""

from __future__ import annotations

from models.network.kinds import loss_settings
from tasks.io.command import print_counts, run
from tasks.io.frames import write_json
from tasks.io.mixes import DATA, LAST
from tasks.io.section import load, load_run
from tasks.pipeline.teacher.params import TeacherParams
from tasks.pipeline.teacher.teaching import teach
from tasks.pipeline.teacher.vectors import NO_ROWS, NO_VECTORS, write_vectors
from tasks.pipeline.train.network_params import NetworkParams

FOLDER = DATA / "teacher"


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
