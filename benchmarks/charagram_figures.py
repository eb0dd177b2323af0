"""The figures of the study `charagram`: what networks said of words and sentences, as rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from benchmarks.charagram_data import Material
from benchmarks.pair_figures import Resampled, compared, mean_over_sets
from benchmarks.results_file import Row
from benchmarks.tuning import Outcome

STS = ("sts", "pearson")
HEADLINES = (("simlex", "spearman"), STS, ("sick", "pearson"))
Figures = dict[tuple[str, str], Resampled]
"""By test and metric."""


def judged(made: Sequence[Outcome], material: Material) -> Figures:
    """By test and metric, what the seeds of a system reach: ρ of words, r of sentences."""
    answers = [np.array(each.answers["simlex"]) for each in made]
    gold, unlinked = np.array(material.simlex.scores), np.array(material.unlinked)
    parts = {"simlex": np.full(len(gold), True), "simlex/unlinked": unlinked}
    words = {
        (test, "spearman"): compared("spearman", [each[some] for each in answers], gold[some], test)
        for test, some in parts.items()
    }
    return words | of_sentences([each.answers for each in made], material)


def of_sentences(answers: Sequence[Mapping[str, list[float]]], material: Material) -> Figures:
    """Pearson's r on each set of sentences, and its mean over the STS sets."""
    found = {
        (test, "pearson"): compared(
            "pearson", [each[test] for each in answers], pairs.scores or [], test
        )
        for test, pairs in material.sentences.items()
    }
    return found | {STS: mean_over_sets([found[test, "pearson"] for test in material.sts])}


def curve(system: str, seed: int, made: Outcome, material: Material, batch: int) -> Iterator[Row]:
    """Figure 1: ρ on SimLex and the validation score, by examples seen; `batch` of them a step."""
    for look, spearman in zip(made.looks, made.watched, strict=True):
        named = {"system": system, "test": f"examples_{look.step * batch:07d}", "seed": seed}
        for metric, value, n in (
            ("spearman", spearman, len(material.simlex.left)),
            ("valid_success_at_1", look.valid_score, len(material.valid.left)),
        ):
            yield {**named, "metric": metric, "value": value, "low": None, "high": None, "n": n}


def rows_of(system: str, figures: Figures, seeds: Sequence[int | None]) -> Iterator[Row]:
    """Of each seed and pooled; `seeds` as in `Resampled.rows`."""
    for (test, metric), found in figures.items():
        for row in found.rows(metric, seeds):
            yield {"system": system, "test": test, **row}


def count_row(system: str, metric: str, value: float) -> Row:
    """How much was trained on, or how large a network is."""
    ends = {"value": value, "low": None, "high": None, "n": 1}
    return {"system": system, "test": "training", "metric": metric, **ends, "seed": None}
