"""How far confidence can be trusted, how much it answers, and whether it knows what is no title."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.results import Row
from models.answer.calibration import Calibration, Levels
from models.answer.index import AliasIndex
from models.answer.search import Search
from models.measures.calibration_error import calibrated_value, calibration_error
from models.measures.intervals import bootstrap_interval
from models.repeatable.seeding import child_seed
from models.text.titles import clean_title, normalize_title
from tasks.evidence.calibrating import Answered, ask, calibrate

HEADLINES = ("2013", "2014", "2015")
PRECISION = 0.9
NAMES = ("major", "sub_major", "minor", "unit", "occupation")
"""The levels of ISCO-08, and ESCO's occupations below them."""


def certainty_rows(
    system: str,
    fitted_on: Mapping[int, tuple[Search, pl.DataFrame]],
    asked: Mapping[int, tuple[Search, pl.DataFrame]],
    hierarchy: Levels,
    lost_share: float,
    strangers: list[str],
) -> Iterator[Row]:
    """Yield figures of each seed, with the calibration of the same seed's other search.

    Args:
        system: its name.
        fitted_on: by seed, a search and titles (`cleaned, occupation_id`) that neither it nor the
            network knows.
        asked: by seed, the search and the titles that are reported.
        hierarchy: of the index.
        lost_share: of the titles fitted on, that may be called no job title.
        strangers: cleaned strings that are no job title.
    """
    for seed, (search, titles) in fitted_on.items():
        temperature = search.rule.temperature
        calibration = calibrate(search, _queries(titles), hierarchy, temperature, lost_share)
        other, reported = asked[seed]
        told = ask(other, _queries(reported), hierarchy, temperature)
        yield from confidence_rows(system, told, calibration, seed)
        found = other.blocks(strangers, 1)
        unknown = np.concatenate(
            [other.familiarity(strangers[place], hits.closest) for place, hits in found]
        )
        for test, familiarity in (("no_title", unknown), ("titles", told.familiarity)):
            refused = (familiarity < calibration.familiar).astype(float)
            value, low, high = astuple(
                bootstrap_interval(refused, 1000, child_seed(seed, "refused", test))
            )
            yield Row(system, f"certainty/{test}", "refused", value, len(refused), low, high, seed)


def confidence_rows(
    system: str, told: Answered, calibration: Calibration, seed: int
) -> Iterator[Row]:
    """Yield how far confidence can be trusted at each level, and how much it answers."""
    confidence = calibration(told.shares)
    for level, name in enumerate(NAMES):
        sure, right = confidence[:, level], told.right[:, level]
        draw = child_seed(seed, "calibration", name)
        for metric, value in (
            ("calibration_error", calibration_error(sure, right, draw)),
            ("calibration_error_if_calibrated", calibrated_value(sure, draw)),
            ("coverage_at_90", coverage(sure, right, PRECISION)),
        ):
            yield Row(system, f"certainty/{name}", metric, value, len(sure), seed=seed)


def _queries(titles: pl.DataFrame) -> pl.DataFrame:
    return titles.with_columns(occupation_ids=pl.concat_list("occupation_id"))


def coverage(sure: np.ndarray, right: np.ndarray, precision: float) -> float:
    """Return the largest share of answers, surest first, of which `precision` are right."""
    order = np.argsort(-sure, kind="stable")
    precise = np.cumsum(right[order]) / np.arange(1, len(order) + 1) >= precision
    return float((np.flatnonzero(precise)[-1] + 1) / len(order)) if precise.any() else 0.0


def no_titles(folder: Path, index: AliasIndex, count: int) -> list[str]:
    """Return strings that are no job title: news headlines and single words, half each.

    None of their words is a title of the taxonomy by itself, as "nurse" is. Of the strings that
    there are, every second one: by the others the weights of familiarity were chosen.

    Args:
        folder: of the publishers' files; STS headlines and the word pairs of SimLex-999 are read.
        index: of all aliases.
        count: how many at most.
    """
    known = {normalize_title(title) for title in index.titles}
    headlines = [
        side
        for year in HEADLINES
        for line in _lines(folder / f"sts/semeval/{year}/headlines.test.tsv")
        for side in line.split("\t")[-2:]
    ]
    words = [
        word
        for line in _lines(folder / "word_similarity/SimLex-999.txt")[1:]
        for word in line.split("\t")[:2]
    ]
    kinds = []
    for strings in (headlines, words):
        distinct = dict.fromkeys(clean_title(string) for string in strings)
        strange = [s for s in distinct if s and not known & {*normalize_title(s).split()}]
        kinds += strange[1::2][: count // 2]
    return kinds


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")
