"""`python -m tasks.apps.review.queue ANSWERS… OUTPUT`: the titles worth a person's minute.

In: the outputs of bulk runs, the newest last, and a registered model. Out: a folder with
`queue.csv` for a spreadsheet and `review.html` for a browser, both of the same queue, schema
`QUEUE`. Every fifth title of it is drawn at random, and another fifth is disputed if there are
such: whoever stops early has judged some of each. The second alternative of a disputed title is the
other model's answer. The model answers again without a least confidence, so that each title has
alternatives: the run may have had one, or been answered by another model. So `served` says whether
the run answered; it is empty if the run answered otherwise.
"""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from models.reproducibility import Progress, atomic_write, write_bytes
from models.serving.answer import Answer
from models.serving.explain import explain
from models.serving.model import Normalizer
from models.text.titles import clean_title
from tasks.apps.reconciliation.taxonomy_service import TaxonomyService
from tasks.apps.review.candidates import (
    ANSWER,
    AT_RANDOM,
    UNLIKE,
    AnsweredRun,
    answered_runs,
    candidates,
    titles_with_verdicts,
    why_queued,
)
from tasks.apps.review.page import Occupation, page
from tasks.apps.review.title_coverage import Coverage
from tasks.apps.unfinished import LOCK, require_free, unfinished
from tasks.io.command import run
from tasks.io.formulas import guarded
from tasks.io.frames import Schema, check
from tasks.io.schemas import FEEDBACK
from tasks.pipeline.feedback.reader import ABSTAINED, ANSWERED, DISPUTED, RANDOM
from tasks.release.gate.disputed import read_disputed
from tasks.release.registry.opening import opened

WORDS = ("distinguishing_words", "runner_up_words")
QUEUE: Schema = {
    **dict.fromkeys(("raw_title", "occupation_id", "matched_title", "model_version"), pl.String),
    "confidence": pl.Float64,
    "rows": pl.UInt32,
    **dict.fromkeys(("chosen_by", "served", "why_queued", "why_answered"), pl.String),
    **dict.fromkeys((*WORDS, "top_occupation_ids", "top_titles"), pl.List(pl.String)),
    "top_scores": pl.List(pl.Float64),
}
OF_THE_MODEL: Schema = {
    name: k for name, k in {**ANSWER, **QUEUE}.items() if name in Answer._fields
}
ALTERNATIVES = 5
AT_ONCE = 1024
EXPLAINED = 1000  # titles whose answers are explained: each takes one search a word
OF_THE_RUN = ("raw_title", "rows", "chosen_by", "gain")
OTHERS = ("earlier_occupation_id", "other_occupation_id")
TURNS = {RANDOM: AT_RANDOM - 1, DISPUTED: 2}  # places among every `AT_RANDOM` of the queue
BESIDE = ("occupation_label", "confidence", "rows", "chosen_by", "served", "why_queued")
SECOND = ("second_occupation_id", "second_label")
TABLE, PAGE = "queue.csv", "review.html"
SPILLED = "titles-"  # how folders of titles begin
OWN = re.compile(rf"\.?({re.escape(TABLE)}|{re.escape(PAGE)})(\.partial)?|{SPILLED}.*")
"""Names in the folder until it is whole."""


def review(
    answers: Sequence[Path],
    output: Path,
    *,
    root: Path,
    model: str = "",
    budget: int = 200,
    compare_with: Path | None = None,
    feedback: str = "feedback/",
) -> None:
    """Make a queue of `budget` titles in a new folder `output`.

    `answers`: outputs of `rolecall normalize`, the newest last; `root`: the clone or workspace with
    registry and feedback; `model`: address in the registry; empty: the one that answered the newest
    run; `compare_with`: the answers of another model; `feedback`: the folder that the page names. A
    ValueError says that the answers are none, or the output is taken.
    """
    if budget < 1:
        raise ValueError(f"--budget={budget}; it is a number of titles, 1 or more")
    runs = answered_runs(answers)
    compared = AnsweredRun.find(compare_with) if compare_with else None
    with (
        atomic_folder(output) as folder,
        opened(model or runs[-1].model, root) as (address, normalizer),
    ):
        judged, disputes = titles_with_verdicts(root), read_disputed(root)
        with TemporaryDirectory(prefix=SPILLED, dir=folder) as spilled:
            pool = candidates(runs, compared, judged, budget, Path(spilled), disputes)
        occupations = known_occupations(normalizer)
        labels = {one.id: one.label for one in occupations}
        queue = build_queue(normalizer, pool, labels, budget)
        write_queue(queue, labels, folder / TABLE)
        write_bytes(page(queue, occupations, address, feedback).encode(), folder / PAGE)
    print(f"{output}: {len(queue):,} titles of {queue['rows'].sum():,} rows, by {address}")


@contextmanager
def atomic_folder(place: Path) -> Iterator[Path]:
    """Yield a new folder beside `place`, which takes its name on success and is removed on failure.

    The rest of a killed run is removed first. An OutputError says that the place is taken, another
    run is at work, or the folder is somebody else's.
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
    service, codes = TaxonomyService(normalizer), normalizer.labels.codes
    return [
        Occupation(name, service.label(name), service.aliases[name], codes[position])
        for name, position in service.position.items()
    ]


def build_queue(
    normalizer: Normalizer, candidates: pl.DataFrame, labels: Mapping[str, str], budget: int
) -> pl.DataFrame:
    """Choose the titles of the queue among those of schema `CANDIDATES`, and say of each why."""
    embeddings = [normalizer.network([])]
    for titles in _batches("embedded", candidates["raw_title"].to_list()):
        embeddings.append(normalizer.network([*map(clean_title, titles)]))
    temperature = normalizer.rule.temperature
    queue = chosen(candidates, np.concatenate(embeddings), temperature, budget)
    of_run = {f"run_{name}": name for name in ("reason", "abstained", "occupation_id")}
    answers = [pl.DataFrame(schema=dict(OF_THE_MODEL))]
    for titles in _batches("answered", queue["raw_title"].to_list()):
        rows = [row._asdict() for row in normalizer.predict(titles, top_k=ALTERNATIVES)]
        answers.append(pl.DataFrame(rows, schema=dict(OF_THE_MODEL)))
    own = queue.select(*OF_THE_RUN, *OTHERS, **of_run)
    queue = pl.concat([own, pl.concat(answers)], how="horizontal")
    queue = with_both_answers(queue, labels)
    why = [why_queued(row, labels) for row in queue.iter_rows(named=True)]
    first = queue["raw_title"].head(EXPLAINED).to_list()
    sentences = [explain(normalizer, title).why for (title,) in _batches("explained", first, 1)]
    queue = queue.with_columns(
        why_queued=pl.Series(why, dtype=pl.String),
        why_answered=pl.Series(sentences + [None] * (len(why) - len(first)), dtype=pl.String),
        served=pl.when("run_abstained")
        .then(pl.lit(ABSTAINED))
        .when(pl.col("run_occupation_id") == pl.col("occupation_id"))
        .then(pl.lit(ANSWERED)),
    )
    return check(queue.select(list(QUEUE)), QUEUE, "the queue")


def chosen(
    candidates: pl.DataFrame, embeddings: np.ndarray, temperature: float, budget: int
) -> pl.DataFrame:
    """Return the titles of the queue in its order, and what each adds (`gain`).

    `candidates`: as `pooled` returns them, in its order; `embeddings`: theirs, of unit norm;
    `temperature`: of the scores.
    """
    counts = {way: len(candidates.filter(chosen_by=way)) for way in TURNS}
    fixed = np.concatenate([AT_RANDOM * np.arange(counts[way]) + TURNS[way] for way in TURNS])
    known = len(fixed)
    others = candidates[known:].select(pl.col("score").fill_null(UNLIKE), "priority")
    scores, weights = (column.to_numpy().astype(np.float32) for column in others)
    coverage = Coverage(embeddings[known:], scores, weights, temperature)
    places, gains = coverage(embeddings[:known], budget - known)
    rows = np.concatenate([np.arange(known), known + places])
    gain = np.concatenate([np.full(known, np.nan, np.float32), gains])
    free = np.setdiff1d(np.arange(AT_RANDOM * known + len(places)), fixed)[: len(places)]
    order = np.argsort(np.concatenate([fixed, free]))
    return candidates[rows[order]].with_columns(gain=pl.Series(gain[order]))


def with_both_answers(queue: pl.DataFrame, labels: Mapping[str, str]) -> pl.DataFrame:
    """Make the other model's answer to a disputed title its second alternative.

    If it is none of the champion's, its title is the label, and it has no score. The first stays
    where it is: an earlier champion, which answered the run, may give the same answer.
    """
    columns = ("top_occupation_ids", "top_titles", "top_scores")
    rows = []
    for other, *tops in queue.select("other_occupation_id", *columns).iter_rows():
        alternatives = [*zip(*tops, strict=True)]
        if other in labels and other not in tops[0][:1]:
            own = [one for one in alternatives if one[0] == other]
            rest = [one for one in alternatives if one[0] != other]
            second = own or [(other, labels[other], None)]
            alternatives = [*rest[:1], *second, *rest[1:]][:ALTERNATIVES]
        rows.append([[*values] for values in zip(*alternatives, strict=True)] or [[], [], []])
    schema = {name: QUEUE[name] for name in columns}
    return queue.with_columns(pl.DataFrame(rows, schema, orient="row"))


def _batches(what: str, titles: list[str], size: int | None = None) -> Iterator[list[str]]:
    """Yield titles, `AT_ONCE` together, and say how many of them are done."""
    size = size or AT_ONCE
    progress = Progress(f"titles {what}:", len(titles), partial(print, flush=True))
    for start in range(0, len(titles), size):
        yield titles[start : start + size]
        progress(start + size)


def write_queue(queue: pl.DataFrame, labels: Mapping[str, str], path: Path) -> None:
    """Write a queue as CSV, whole or not at all.

    The columns are those of `FEEDBACK`, which the person fills in, and what helps to decide. Every
    cell is quoted, none is a formula (`tasks/io/formulas.py`), and Excel knows UTF-8 by its mark.
    """
    position = pl.col("occupation_id").is_not_null().cast(pl.UInt32)  # of no answer: the first
    second = pl.col("top_occupation_ids").list.get(position, null_on_oob=True)
    named = queue.with_columns(
        predicted_occupation_id="occupation_id",
        second_occupation_id=second,
        occupation_label=_known(pl.col("occupation_id"), labels),
        second_label=_known(second, labels),
        confidence=pl.col("confidence").round(3),
    )
    empty = [pl.lit(None, pl.String).alias(name) for name in FEEDBACK if name not in named.columns]
    frame = named.with_columns(empty).select(*FEEDBACK, *BESIDE, *SECOND)
    texts = [guarded(column) for column in frame if column.dtype == pl.String]
    with atomic_write(path) as partial:
        frame.with_columns(texts).write_csv(partial, include_bom=True, quote_style="always")


def _known(ids: pl.Expr, labels: Mapping[str, str]) -> pl.Expr:
    return ids.replace_strict(labels, default=None, return_dtype=pl.String)


def main() -> None:
    """Make the queue by the arguments of this process, with the registry of the directory."""
    parser = argparse.ArgumentParser(prog="python -m tasks.apps.review.queue")
    parser.add_argument("answers", type=Path, nargs="+")
    parser.add_argument("output", type=Path)
    parser.add_argument("--model", default="")
    parser.add_argument("--budget", type=int, default=200)
    parser.add_argument("--compare-with", type=Path)
    parser.add_argument("--feedback", default="feedback/")
    review(root=Path.cwd(), **vars(parser.parse_args()))


if __name__ == "__main__":
    run(main)
