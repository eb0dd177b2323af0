"""One section of `docs/RESULTS.md` per experiment: a sentence, tables, how it was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.chosen_rows import distinct, place
from benchmarks.contrastive_sections import contrastive
from benchmarks.feedback_sections import feedback, feedback_valid
from benchmarks.markdown_tables import Rows, markdown, pivot
from benchmarks.similarity_sections import attention, charagram
from benchmarks.table3_sections import table3
from benchmarks.zoo_sections import frozen_space, zoo

MODES = ("fast", "paper")


def pipeline(rows: Rows) -> Iterator[str]:
    """Tests and slices of each data set, and the two modes."""
    yield (
        "Every system on every test, against the same index of training aliases. Brackets are 95 % "
        "bootstrap intervals over queries, `n` is the number of queries."
    )
    for dataset in distinct(rows, "dataset"):
        here = [row for row in rows if row["dataset"] == dataset and row["system"] not in MODES]
        tests = [row for row in here if "/" not in row["test"] and row["test"] != "training"]
        yield f"### {dataset}: tests"
        yield pivot(tests, ("test", "system"), "metric", ("n", "seed"))
        slices = [row for row in here if "/" in row["test"] and row["metric"] == "success_at_1"]
        if slices:
            yield f"### {dataset}: success@1 by slice"
            yield pivot(slices, ("test",), "system", ("n",))
        steps = [row for row in here if row["test"] == "training"]
        if steps:
            yield pivot(steps, ("system",), "metric", ("seed", "machine"))
    modes = [row for row in rows if row["system"] in MODES and "/" not in row["test"]]
    if modes:
        yield "### The encoder's two modes"
        yield "Both trained from the same weights with the same settings for the same few steps."
        figures = [row for row in modes if row["test"] != "training"]
        yield pivot(figures, ("test", "system"), "metric", ("n", "seed"))
        costs = [row for row in modes if row["test"] == "training"]
        yield pivot(costs, ("test", "system"), "metric", ("seed",))


def reference(rows: Rows) -> Iterator[str]:
    """One table."""
    yield (
        "The lexical baselines on ESCO's published file and real vacancy titles, every alias in "
        "the index: a check of matchers and metrics. Brackets are 95 % bootstrap intervals."
    )
    yield pivot(rows, ("dataset", "test", "system"), "metric", ("n", "seed"))


def speed(rows: Rows) -> Iterator[str]:
    """Network and pairs, each with its physical limit."""
    yield (
        "Medians; brackets are the lowest and the highest repeat, `n` is the number of repeats, "
        "which alternate between the systems."
    )
    pairs = [row for row in rows if row["test"].startswith("pairs_")]
    network = [row for row in rows if not row["test"].startswith("pairs_")]
    if network:
        yield "### Network"
        yield pivot(network, ("dataset", "test", "system"), "metric", ("n",))
        yield from _shares(network)
    if pairs:
        yield "### Pairs"
        yield (
            "Each size in a fresh process. `write_only` is the limit: the same rows written with "
            "nothing drawn."
        )
        ordered = sorted(pairs, key=lambda row: (row["dataset"], *place(row), _size(row["test"])))
        yield pivot(ordered, ("dataset", "system", "test"), "metric", ("n",))


def augmentation(rows: Rows) -> Iterator[str]:
    """One table, induction by its copies."""
    yield (
        "Each in a fresh process; medians, brackets are the lowest and the highest repeat. The "
        "time of induction a title stays level where it does not grow with the square of the "
        "taxonomy."
    )
    ordered = sorted(rows, key=lambda row: (row["dataset"], *_copies(row["test"])))
    yield pivot(ordered, ("dataset", "test"), "metric", ("n",))


def _copies(test: str) -> tuple[str, int]:
    """`induction_x16` after `induction_x4`."""
    name, _, copies = test.partition("_x")
    return name, int(copies or 1)


def sources(rows: Rows) -> Iterator[str]:
    """One table, a column per data set."""
    yield (
        "What each rule of the sources takes or leaves: counts of the stages themselves. Induction "
        "by the paper's rules has `contexts:1`, the stricter row `contexts:2`."
    )
    yield pivot(rows, ("system", "test", "metric"), "dataset")


def dropout(rows: Rows) -> Iterator[str]:
    """Equal steps and equal seconds."""
    yield (
        "The same network from the same weights on the same pairs, with recurrent dropout done in "
        "three ways; success@1 of the validation queries, which no table above reports. Brackets "
        "are 95 % bootstrap intervals over queries. Looks are not counted as seconds."
    )
    yield pivot(rows, ("dataset", "test", "system", "seed"), "metric", ("n",))


def _shares(rows: Rows) -> Iterator[str]:
    """What part of the measured peak the useful work is."""
    peaks = {
        row["system"]: float(row["value"])
        for row in rows
        if row["test"] == "matmul" and float(row["value"]) > 0
    }
    limits = list(peaks.values())
    lines = [
        [row["test"], row["system"], *(f"{float(row['value']) / peak:.0%}" for peak in limits)]
        for row in rows
        if row["metric"] == "gigaflop_per_second" and row["test"] != "matmul"
    ]
    if lines and peaks:
        yield (
            "The physical limit is the matrix product. Useful work is that of the recurrent layers "
            "over each string's true length; the rest is padding, gates, and waiting for the step "
            "before."
        )
        yield markdown(("test", "system", *(f"share of {name}" for name in peaks)), lines)


SECTIONS: dict[str, Callable[[Rows], Iterator[str]]] = {
    "pipeline": pipeline,
    "table3": table3,
    "contrastive": contrastive,
    "feedback": feedback,
    "feedback_valid": feedback_valid,
    "reference": reference,
    "speed": speed,
    "sources": sources,
    "augmentation": augmentation,
    "dropout": dropout,
    "zoo": zoo,
    "frozen_space": frozen_space,
    "attention": attention,
    "charagram": charagram,
}


def in_order(rows: Rows) -> list[dict[str, str]]:
    """Sample first, then by test and system, baselines before networks."""
    return sorted(rows, key=lambda row: (row["dataset"] != "sample", row["dataset"], *_order(row)))


def _order(row: dict[str, str]) -> tuple[str, int, str, str]:
    return row["test"], *place(row), row["seed"]


def _size(test: str) -> float:
    number = test.removeprefix("pairs_").removesuffix("m")
    return float(number) if number.replace(".", "", 1).isdigit() else 0.0
