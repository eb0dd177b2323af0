"""`python -m tasks.review ANSWERS OUTPUT`: which inputs are worth a person's minute.

In: the folder of a bulk run, and the registered model that answered it or another one. Out: a
folder with `queue.csv` for a spreadsheet and `review.html` for a browser, both of the same queue
(`priority.py` says what is worth more, `variety.py` what is left out). What people have judged is
not asked again.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from models.repeatable.whole_file import whole_file
from tasks.bulk.answering import answer_schema
from tasks.files.command import run
from tasks.reconciliation.occupations import Occupations
from tasks.registry.loading import fetched
from tasks.review.answered_run import AnsweredRun
from tasks.review.asking import loaded
from tasks.review.candidates import candidates, judged_titles
from tasks.review.page import Occupation, page
from tasks.review.queue_file import write_queue
from tasks.review.queued import queued
from tasks.review.whole_folder import whole_folder

QUEUE, PAGE = "queue.csv", "review.html"
POOL = 20
"""Candidates that the model is asked again, for each title of the budget."""


def main() -> None:
    """Make the queue, with the registry and the feedback of the working directory."""
    options = _options()
    if options.budget < 1:
        raise ValueError(f"--budget={options.budget}; it is a number of titles, 1 or more")
    answered = AnsweredRun.find(options.answers)
    before = AnsweredRun.find(options.before) if options.before else None
    root = Path.cwd()
    with whole_folder(options.output) as folder:
        with fetched(options.model or answered.model, root) as (address, place):
            served, schema = loaded(place), answer_schema(place)
        with TemporaryDirectory(dir=folder) as spilled:
            count, judged = options.budget * POOL, judged_titles(root)
            pool = candidates(answered, before, judged, count, Path(spilled))
        occupations = known_occupations(served)
        labels = {one.id: one.label for one in occupations}
        queue = queued(served, schema, pool, labels, options.budget)
        write_queue(queue, labels, folder / QUEUE)
        with whole_file(folder / PAGE) as partial:
            partial.write_text(page(queue, occupations, address), encoding="utf-8")
    print(f"{options.output}: {len(queue):,} titles of {queue['rows'].sum():,} rows, by {address}")


def known_occupations(served: Any) -> list[Occupation]:  # noqa: ANN401  # mlflow has no types
    """Return the occupations of a model, in its order."""
    told = Occupations(served.normalizer)
    codes = served.normalizer.catalogue.codes
    return [
        Occupation(name, told.label(name), told.aliases[name], codes[place])
        for name, place in told.place.items()
    ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tasks.review", description=__doc__)
    parser.add_argument("answers", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--model", default="", help="default: the one that answered")
    parser.add_argument("--budget", type=int, default=200)
    parser.add_argument("--before", type=Path, help="answers of an earlier model")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
