"""What answers titles, each as a process of one thread: ours, the same unpruned, and others.

`minilm` embeds with all-MiniLM-L6-v2 and searches the taxonomy's titles with faiss, exactly;
`rapidfuzz` compares the titles' words in order (`token_sort_ratio`). Both give the best title and
no more.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.results import Row
from benchmarks.studies.bulk.inputs import write_titles
from models.served.normalizer import Normalizer
from models.text.titles import clean_title
from tasks.bulk.answering import answering
from tasks.bulk.known import known_answers
from tasks.bulk.output import Output
from tasks.bulk.source import Source

Answer = Callable[[Sequence[str]], object]


def read_served(model: Path) -> Normalizer:
    """Load the normalizer of a model that MLflow saved."""
    import mlflow

    served = mlflow.pyfunc.load_model(str(model)).unwrap_python_model()
    gc.freeze()  # as the processes of a bulk run do (`tasks/bulk/answering.py`)
    return served.normalizer  # type: ignore[no-any-return]


def unpruned(normalizer: Normalizer) -> Normalizer:
    """Let every occupation be scored in full."""
    normalizer.__dict__["pruned"] = None  # in the place of the cached one
    return normalizer


def system_answer(system: str, normalizer: Normalizer) -> Answer:
    """Prepare a system on the taxonomy's titles."""
    titles = normalizer.index.titles
    if system in ("rolecall", "exact"):
        return normalizer.predict
    if system == "minilm":
        return _sentence_encoder(titles)
    return _matcher(titles)


def speeds(
    system: str, normalizer: Normalizer, titles: Sequence[str], repeats: int
) -> Iterator[float]:
    """Yield titles a second of each repeat, the first few titles asked before."""
    answer = system_answer(system, normalizer)
    answer(titles[:64])
    for _ in range(repeats):
        began = time.perf_counter()
        answer(titles)
        yield len(titles) / (time.perf_counter() - began)


def parts(normalizer: Normalizer, model: Path, titles: Sequence[str], place: Path) -> Iterator[Row]:
    """Yield titles a second of the parts of a run, one behind the other, one thread.

    They are `read` (from Parquet), `words` (reading and qualifiers), `featurize`, `encode`,
    `search`, `answer`, which is these four and the columns, `process`, which is an answer in a
    process of its own, handed over as Arrow, `keep` (for the next run) and `write`.

    Args:
        normalizer: of the model.
        model: that MLflow saved.
        titles: distinct.
        place: an empty folder.
    """
    cleaned = [clean_title(title) for title in titles]
    search = normalizer.pruned or normalizer.search
    read, qualifiers = normalizer.reader, normalizer.qualifiers
    normalizer.predict(titles[:64])
    seconds = {
        "words": _seconds(lambda: [(read(title), qualifiers(title)) for title in titles]),
        "featurize": _seconds(lambda: normalizer.featurizer(cleaned)),
        "encode": _seconds(lambda: normalizer.embed(cleaned)),
        "search": _seconds(lambda: [*search.blocks(cleaned, normalizer.top_k)]),
        "answer": _seconds(lambda: normalizer.predict(titles)),
    }
    seconds["search"] -= seconds["encode"]
    seconds["encode"] -= seconds["featurize"]
    file = place / "titles.parquet"
    write_titles(titles, len(titles), file, seed=0)
    source = Source.find(str(file))
    seconds["read"] = _seconds(lambda: [*source.parts(source.files[0], print)])
    with answering(model, 1) as ask, known_answers(place / "known") as known:
        ask({}, titles[:64])  # what is made at the first answer
        answered: list[pa.Table] = []
        seconds["process"] = _seconds(lambda: answered.append(ask({}, titles)))
        (answers,) = answered
        seconds["keep"] = _seconds(lambda: known(pa.array(titles), lambda new: answers))
    output = Output(place / "out", {}, source.files)
    output.begin()
    seconds["write"] = _seconds(lambda: output.write_part(0, 0, answers, answers["reason"]))
    for part, took in seconds.items():
        yield Row("rolecall", f"part/{part}", "titles_per_second", len(titles) / took, len(titles))


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _sentence_encoder(known: Sequence[str]) -> Answer:
    import faiss

    from tasks.teacher.sentence_encoder import sentence_encoder

    encode = sentence_encoder()
    faiss.omp_set_num_threads(1)
    vectors = np.ascontiguousarray(encode(known))
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return lambda titles: index.search(encode(titles), 1)


def _matcher(known: Sequence[str]) -> Answer:
    from rapidfuzz import fuzz, process

    def answer(titles: Sequence[str]) -> object:
        cleaned = [clean_title(title) for title in titles]
        return process.cdist(cleaned, known, scorer=fuzz.token_sort_ratio).argmax(axis=1)

    return answer
