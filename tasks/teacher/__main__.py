"""Stage `teacher`: what a sentence encoder says of the training titles, and of their words alone.

In: the titles that training may use, of the taxonomy (split `train`), of the companion and of all
sources but typos, which a teacher cannot read. Out: `data/teacher/titles.parquet` (``title,
vector``) and `words.parquet` (``word, vector``), distinct and sorted, vectors of unit norm in half
precision; empty with the kind `none`. No query of a test is asked.
"""

from __future__ import annotations

from pathlib import Path

from tasks.files.command import run
from tasks.files.counts import say
from tasks.files.frames import write_json
from tasks.params.section import load
from tasks.params.teaching import TeacherParams
from tasks.teacher.sentence_encoder import sentence_encoder
from tasks.teacher.vectors import NO_VECTORS, training_titles, vectors, whole_words, write_vectors

FOLDER = Path("data/teacher")


def main() -> None:
    """Run the stage on its files."""
    embed = sentence_encoder() if load(TeacherParams).teaches else None
    titles = training_titles() if embed else []
    counts = {}
    for column, texts in (("title", titles), ("word", whole_words(titles))):
        table = vectors(texts, embed, f"{column}s") if embed else NO_VECTORS
        write_vectors(texts, table, column, FOLDER)
        counts[f"{column}s"] = len(texts)
    write_json(counts, FOLDER / "metrics.json")
    say(counts)


if __name__ == "__main__":
    run(main)
