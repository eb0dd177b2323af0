"""Every name that stands in `results/*.csv`, with its meaning; `docs/RESULTS.md` lists them.

A test of a slice is written `TEST/SLICE` and is named by its two parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

NAMES: dict[str, dict[str, str]] = {
    "experiment": {
        "pipeline": "every system on every test of a data set, and the encoder's two modes",
        "reference": "the lexical baselines on the publishers' whole files, without our splits",
        "speed": "titles and pairs per second and peak memory, beside the obvious way to do it",
        "dropout": "recurrent dropout: on the weights, on the state at every step, or none",
    },
    "dataset": {
        "sample": "the taxonomy and raw inputs in `data/sample/`, made by hand for this project",
        "esco": "ESCO's occupations, English; inputs are vacancy titles labelled with them",
        "onet": "O*NET's occupations with alternate and reported titles; no inputs",
    },
    "system": {
        "ngram": "the n-gram matcher of Neculoiu et al. 2016",
        "tfidf": "TF-IDF over character 2-5-grams within words, cosine",
        "untrained": "the network at step 0",
        "0": "the network trained on the base taxonomy's pairs",
        "1": "the same with typo pairs",
        "gpu": "the network of stage 1 trained on a GPU, outside the pipeline",
        "fast": "trained for the given number of steps; strings at their true length",
        "paper": "the same steps in the paper's window of 100 characters, averaged over all of it",
        "none": "no recurrent dropout",
        "weights": "hidden-to-hidden weights dropped once a batch: what `models/recurrent.py` does",
        "each_step": "a fresh mask on the hidden state at every step",
        "rolecall": "this project's code",
        "plain_lstm": "`torch.nn.LSTM` and a DataLoader over padded strings, layers of equal size",
        "onnx": "the exported network in onnxruntime",
        "matmul": "product of two 1024 x 1024 matrices: the peak of this machine",
        "matmul_step": "the product that one step of the recurrence needs for a batch",
        "write_only": "one block of pairs written again and again: the speed of the file format",
        "python_loop": "pairs drawn one by one in Python",
        "polars_cross_join": "all titles joined with all in Polars, dissimilar pairs sampled",
    },
    "test": {
        "typos": "titles of the taxonomy with 5 % of their characters changed",
        "heldout_alias": "an alias kept out of training and index",
        "annotations": "labelled raw inputs that nothing was trained on",
        "vacancy_titles": "all 15,463 labelled vacancy titles against the whole taxonomy",
        "size:1": "slice: the occupation has one title",
        "size:2-5": "slice: the occupation has 2 to 5 titles",
        "size:6-15": "slice: the occupation has 6 to 15 titles",
        "size:16+": "slice: the occupation has 16 titles or more",
        "length:1-15": "slice: the query has up to 15 characters",
        "length:16-30": "slice: the query has 16 to 30 characters",
        "length:31+": "slice: the query has 31 characters or more",
        "training": "updating the network on the sample's pairs",
        "encoding": "titles to embeddings, nothing learned",
        "matmul": "matrix product in float32",
        "valid_after_steps": "validation queries, after the same number of steps",
        "valid_after_seconds": "validation queries, after the same seconds of training",
        "pairs_all": "every similar pair of the taxonomy once, and four dissimilar ones to each",
    },
    "metric": {
        "success_at_1": "share of queries whose best occupation is right; ties by expectation",
        "success_at_5": "the same for the best five",
        "success_at_10": "the same for the best ten",
        "mrr": "mean reciprocal rank of the best right occupation",
        "titles_per_second": "distinct strings through the network; encoding starts from text",
        "pairs_per_second": "rows written to the pairs file",
        "mib_per_second": "the same in MiB of plain columns, 9.1 bytes a row",
        "peak_mib": "largest resident size of a process that does nothing else",
        "seconds": "wall time",
        "steps": "updates of the network",
        "gigaflop_per_second": "useful floating point operations: matrix products of the recurrent "
        "layers over true lengths, training counted three times",
    },
}
SIZE = "pairs_<size>m"
SIZE_MEANING = "that many million pairs made from the data set's titles"


def table() -> Iterator[tuple[str, str, str]]:
    """(column, name, meaning) of every name, in the order above."""
    for column, names in NAMES.items():
        for name, meaning in names.items():
            yield column, name, meaning
    yield "test", SIZE, SIZE_MEANING
    yield "test", "source:<name>", "slice: the query comes from that source"


def unnamed(rows: Iterable[dict[str, str]]) -> set[tuple[str, str]]:
    """(column, name) of what stands in `rows` without a meaning."""
    found = {(column, part) for row in rows for column in NAMES for part in row[column].split("/")}
    return {(column, name) for column, name in found if not _known(column, name)}


def _known(column: str, name: str) -> bool:
    if column == "test" and name.startswith("source:"):
        return True
    if column == "test" and name.startswith("pairs_") and name.endswith("m"):
        return name.removeprefix("pairs_").removesuffix("m").replace(".", "", 1).isdigit()
    return name in NAMES[column]
