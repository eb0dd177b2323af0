"""Confidence fitted on queries that nothing was trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from models.metrics.platt import fitted
from models.search.calibration import Calibration, Levels, logit
from models.search.index import AliasIndex
from models.search.ood_score import KNOWN, OodScore
from models.search.search import Search
from models.search.words.respelling import Respelling
from models.search.words.title_words import TitleWords
from models.search.words.word_evidence import WordEvidence

if TYPE_CHECKING:
    from jaxtyping import Bool, Float32, Float64

MADE_WEIGHT = 0.5
"""Of all made queries together, beside 1 of all labelled ones."""


class Judged(NamedTuple):
    """Answers to queries with known occupations."""

    values: Float64[np.ndarray, "query level value"]
    """Logarithm of the odds at the level, then `EVIDENCE`."""
    correct: Bool[np.ndarray, "query level"]
    ood_scores: Float64[np.ndarray, " query"]


def calibrate(
    search: Search,
    queries: pl.DataFrame,
    hierarchy: Levels,
    temperature: float,
    labels: pl.DataFrame,
    max_false_rejection_rate: float,
    made: pl.DataFrame | None = None,
) -> Calibration:
    """Fit confidence at every level on queries with known occupations.

    `search` has its exemplars, `queries` (columns `cleaned` and `occupation_ids`, one row at least)
    any number of correct occupations, `hierarchy` the index's occupations, `labels` what
    `labels.labels_of_titles` returns. At most `max_false_rejection_rate` of the queries are
    rejected as not job titles. `made` has further queries (`labels.made_queries`), vaguer than
    most, that count less.
    """
    words = TitleWords.of(search.index.titles)
    answered = judged(search, queries, hierarchy, temperature, words, labels)
    values, correct, weights = answered.values, answered.correct, np.ones(len(queries))
    if made is not None and len(made):
        vague = judged(search, made, hierarchy, temperature, words, labels)
        vague.correct[made["is_topic"].to_numpy(), -1] = False
        values = np.concatenate([values, vague.values])
        correct = np.concatenate([correct, vague.correct])
        share = MADE_WEIGHT * len(queries) / len(made)
        weights = np.concatenate([weights, np.full(len(made), share)])
    offsets, slopes, of_words = [], [], []
    for level in range(len(hierarchy)):
        offset, (slope, *others) = fitted(values[:, level], correct[:, level], weights)
        offsets.append(offset)
        slopes.append(float(slope))
        of_words.append([float(weight) for weight in others])
    ood_threshold = (
        -float(np.quantile(-answered.ood_scores, max_false_rejection_rate))
        if max_false_rejection_rate
        else KNOWN
    )
    return Calibration(temperature, offsets, slopes, ood_threshold, of_words)


def judged(
    search: Search,
    queries: pl.DataFrame,
    hierarchy: Levels,
    temperature: float,
    words: TitleWords,
    labels: pl.DataFrame,
) -> Judged:
    """Answer queries, none with the help of its own exemplar, and compare with what is right.

    `words`: of the titles of the search's index.
    """
    values, correct, ood_scores = [], [], []
    respelling, word_evidence = Respelling(words, search.index), WordEvidence(words)
    ood_score = OodScore(frozenset(search.index.titles), words.endings)
    titles = [respelling(title) for title in queries["cleaned"]]
    for place, hits in without_own_exemplars(search).blocks(titles, 1):
        answers = hits.occupations[:, 0]
        shares = hierarchy.shares(hits.scores, temperature, answers)
        aliases = [search.index.titles[title] for title in hits.titles[:, 0].tolist()]
        names = [search.index.occupations[code] for code in answers]
        pairs = pl.DataFrame({"occupation_id": names, "cleaned": aliases})
        own = pairs.join(labels, on=["occupation_id", "cleaned"], how="left", maintain_order="left")
        features = word_evidence(titles[place], aliases, own["label"].to_list(), hits.closest)
        repeated = np.repeat(features[:, None], len(hierarchy), axis=1)
        values.append(np.concatenate([logit(shares)[:, :, None], repeated], axis=2))
        gold = search.index.codes(queries[place]["occupation_ids"].to_list())
        correct += [
            hierarchy.agree(np.full(len(codes), answer), np.array(codes, np.int64)).any(axis=0)
            for answer, codes in zip(answers, gold, strict=True)
        ]
        ood_scores.append(ood_score(titles[place], hits.closest))
    return Judged(np.concatenate(values), np.array(correct), np.concatenate(ood_scores))


def without_own_exemplars(search: Search) -> Search:
    """Return a search in which no title is helped by an exemplar of the same title."""
    if search.exemplars is None or not search.exemplars.titles:
        return search
    known = len(search.index.titles)
    column = {title: known + place for place, title in enumerate(search.exemplars.titles)}

    def similarities(titles: Sequence[str]) -> Float32[np.ndarray, "query title"]:
        everything = search.similarities(titles)
        for row, title in enumerate(titles):
            if title in column:
                everything[row, column[title]] = -1
        return everything

    return replace(search, similarities=similarities)


def levels(index: AliasIndex, occupations: pl.DataFrame) -> Levels:
    """Return the hierarchy above an index's occupations (schema `OCCUPATIONS`)."""
    codes = dict(occupations.select("occupation_id", "codes").iter_rows())
    return Levels.of([codes[name] for name in index.occupations])
