"""What answers titles, each as a process of one thread: ours, the same unpruned, and others.

`minilm` embeds with all-MiniLM-L6-v2 and searches the taxonomy's titles with faiss, exactly;
`rapidfuzz` compares the titles' words in order (`token_sort_ratio`). Both give the best title and
no more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.results import Row
from models.served.normalizer import Normalizer
from models.text.titles import clean_title

Answer = Callable[[Sequence[str]], object]


def read_served(model: Path) -> Normalizer:
    """Load the normalizer of a model that MLflow saved."""
    import mlflow

    served = mlflow.pyfunc.load_model(str(model)).unwrap_python_model()
    return served.normalizer  # type: ignore[no-any-return]


def unpruned(normalizer: Normalizer) -> Normalizer:
    """Let every occupation be scored in full."""
    normalizer.__dict__["pruned"] = None  # in the place of the cached one
    return normalizer


def answering(system: str, normalizer: Normalizer) -> Answer:
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
    answer = answering(system, normalizer)
    answer(titles[:64])
    for _ in range(repeats):
        began = time.perf_counter()
        answer(titles)
        yield len(titles) / (time.perf_counter() - began)


def parts(normalizer: Normalizer, titles: Sequence[str]) -> Iterator[Row]:
    """Yield titles a second of the parts of an answer, one behind the other, one thread.

    They are `words` (reading and qualifiers), `featurize`, `encode`, `search` and `answer`, which
    is all of it.
    """
    cleaned = [clean_title(title) for title in titles]
    search = normalizer.pruned or normalizer.search
    read, qualifiers = normalizer.reader, normalizer.qualifiers
    seconds = {
        "words": _seconds(lambda: [(read(title), qualifiers(title)) for title in titles]),
        "featurize": _seconds(lambda: normalizer.featurizer(cleaned)),
        "encode": _seconds(lambda: normalizer.embed(cleaned)),
        "search": _seconds(lambda: [*search.blocks(cleaned, normalizer.top_k)]),
        "answer": _seconds(lambda: normalizer.predict(titles)),
    }
    seconds["search"] -= seconds["encode"]
    seconds["encode"] -= seconds["featurize"]
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
