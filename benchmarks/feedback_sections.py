"""The sections `feedback` and `feedback_valid` of `docs/RESULTS.md`: a line per variant."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.markdown_tables import Rows, pivot

TABLES: tuple[tuple[str, str, Callable[[str], bool]], ...] = (
    ("success@1", "success_at_1", lambda test: "/" not in test),
    ("gain in success@1 over model 3", "gain_over_3", lambda test: "/" not in test),
    ("the same gain by slice", "gain_over_3", lambda test: "/" in test),
    ("not inferior to model 3", "non_inferior", lambda _: True),
    ("fix rate", "fix_rate", lambda _: True),
    ("side effects", "side_effects", lambda _: True),
)
"""Title, metric, and which tests are its columns."""


def feedback(rows: Rows) -> Iterator[str]:
    """Each variant's tests, gains over model 3, and what it mends and breaks."""
    yield (
        "Variants of stage 4, all with the section `train` of the pipeline, each compared with "
        "model 3 on the same queries. Brackets are 95 % bootstrap intervals over queries."
    )
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        for title, metric, chosen in TABLES:
            found = [
                row
                for row in rows
                if (row["dataset"], row["metric"]) == (dataset, metric) and chosen(row["test"])
            ]
            if found:
                yield f"### {dataset}: {title}"
                yield pivot(found, ("system", "seed"), "test")
                counts = dict.fromkeys(f"{row['test']} {row['n']}" for row in found)
                yield f"Queries: {', '.join(counts)}."


def feedback_valid(rows: Rows) -> Iterator[str]:
    """The same tables of the validation queries."""
    yield "What choices are made on: validation queries, which no table of tests reports."
    yield from feedback(rows)
