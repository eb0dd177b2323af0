"""`python -m tasks.apps.review ANSWERS… OUTPUT`: the inputs that are worth a person's minute.

In: the outputs of bulk runs, the newest last, and the registered model that answered that one or
another one. Out: a folder with `queue.csv` for a spreadsheet and `review.html` for a browser, both
of the same queue (`title_coverage.py` says which titles help most). Titles that people have judged
are not queued again.
"""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from models.normalizer.normalizer import Normalizer
from models.reproducibility.atomic_write import atomic_write
from tasks.apps.reconciliation.taxonomy_service import TaxonomyService
from tasks.apps.review.answered_run import AnsweredRun
from tasks.apps.review.build_queue import build_queue
from tasks.apps.review.candidates import candidates, judged_titles
from tasks.apps.review.merged_runs import answered_runs
from tasks.apps.review.page import Occupation, page
from tasks.apps.review.queue_file import write_queue
from tasks.apps.unfinished import LOCK, require_free, unfinished
from tasks.io.command import run
from tasks.release.gate.waiting import read_disputed
from tasks.release.registry.opening import opened

QUEUE, PAGE = "queue.csv", "review.html"
SPILLED = "titles-"  # how folders of titles begin
OWN = re.compile(rf"\.?({re.escape(QUEUE)}|{re.escape(PAGE)})(\.partial)?|{SPILLED}.*")
"""Names in the folder until it is whole."""


def main() -> None:
    """Make the queue, with the registry and the feedback of the working directory."""
    options = _options()
    if options.budget < 1:
        raise ValueError(f"--budget={options.budget}; it is a number of titles, 1 or more")
    runs = answered_runs(options.answers)
    compared = AnsweredRun.find(options.compare_with) if options.compare_with else None
    root = Path.cwd()
    with (
        atomic_folder(options.output) as folder,
        opened(options.model or runs[-1].model, root) as (address, normalizer),
    ):
        with TemporaryDirectory(prefix=SPILLED, dir=folder) as spilled:
            judged, place = judged_titles(root), Path(spilled)
            pool = candidates(runs, compared, judged, options.budget, place, read_disputed(root))
        occupations = known_occupations(normalizer)
        labels = {one.id: one.label for one in occupations}
        queue = build_queue(normalizer, pool, labels, options.budget)
        write_queue(queue, labels, folder / QUEUE)
        with atomic_write(folder / PAGE) as partial:
            document = page(queue, occupations, address, options.feedback)
            partial.write_text(document, encoding="utf-8")
    print(f"{options.output}: {len(queue):,} titles of {queue['rows'].sum():,} rows, by {address}")


@contextmanager
def atomic_folder(place: Path) -> Iterator[Path]:
    """Yield a new folder beside `place`, which takes its name on success and is removed on failure.

    It first removes the rest of a killed run.

    Raises:
        OutputError: the place is taken, another run is at work, or the folder is somebody else's.
    """
    require_free(place)
    with unfinished(place, OWN) as folder:
        _clear(folder)
        try:
            yield folder
        except BaseException:
            _clear(folder)
            raise
        folder.rename(place)
        (place / LOCK).unlink()


def _clear(folder: Path) -> None:
    for path in folder.iterdir():
        if OWN.fullmatch(path.name):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def known_occupations(normalizer: Normalizer) -> list[Occupation]:
    """Return the occupations of a model, in its order."""
    service, codes = TaxonomyService(normalizer), normalizer.taxonomy_labels.codes
    return [
        Occupation(name, service.label(name), service.aliases[name], codes[place])
        for name, place in service.place.items()
    ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tasks.apps.review", description=__doc__)
    parser.add_argument("answers", type=Path, nargs="+")
    parser.add_argument("output", type=Path)
    parser.add_argument("--model", default="", help="default: the one that answered the last")
    parser.add_argument("--budget", type=int, default=200)
    parser.add_argument("--compare-with", type=Path, help="answers of a reference model")
    parser.add_argument("--feedback", default="feedback/", help="folder that the page names")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
