"""Confidence fitted on queries that nothing was trained on, and what labels say of exact titles.

The queries are the labelled inputs that nothing was trained on and no test queries, each answered
without its own exemplar; else held-out titles, which are nearer to the taxonomy. Without enough of
either the model stays uncalibrated. Lone head words and initials of titles teach what is vague.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Sequence
from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from models.metrics.calibration import fitted
from models.serving.confidence import KNOWN, Calibration, Levels, OodScore, logit, word_evidence
from models.serving.index import AliasIndex
from models.serving.search import Search
from models.serving.spelling import SpellingCorrector
from models.text.words import WORDS, TitleWords, Words
from tasks.pipeline.calibrate.prior import posterior

if TYPE_CHECKING:
    from jaxtyping import Bool, Float32, Float64, Int64

ENOUGH = 50  # queries: a twentieth of fewer is hardly a query
ASSUMED, ASSUMED_RIGHT = 10, 9  # exact titles seen before any is, and how many of these were right
PAIRS, PAIRS_AGREEING = 5, 4  # the same of pairs of labels that one title has
KEPT = ("annotations", "gate")  # splits of inputs that tests and the gate query
MADE = 400  # titles that vague queries are made of
MADE_WEIGHT = 0.5  # of all made queries together, beside 1 of all labelled ones


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

    `queries` has columns `cleaned, occupation_ids`, one row at least; `labels`: of
    `labels_of_titles`. At most `max_false_rejection_rate` of the queries are rejected as not job
    titles. `made` (of `made_queries`) are vaguer and count less.
    """
    words = TitleWords.of(search.index.titles)
    values, correct, ood_scores = judged(search, queries, hierarchy, temperature, words, labels)
    weights = np.ones(len(queries))
    if made is not None and len(made):
        vague, right, _ = judged(search, made, hierarchy, temperature, words, labels)
        right[made["is_topic"].to_numpy(), -1] = False
        values = np.concatenate([values, vague])
        correct = np.concatenate([correct, right])
        share = MADE_WEIGHT * len(queries) / len(made)
        weights = np.concatenate([weights, np.full(len(made), share)])
    fits = [fitted(values[:, n], correct[:, n], weights) for n in range(len(hierarchy))]
    offsets, slopes = [offset for offset, _ in fits], [float(own[0]) for _, own in fits]
    of_words = [own[1:].tolist() for _, own in fits]
    ood_threshold = KNOWN
    if max_false_rejection_rate:
        ood_threshold = -float(np.quantile(-ood_scores, max_false_rejection_rate))
    return Calibration(temperature, offsets, slopes, ood_threshold, of_words)


def judged(
    search: Search,
    queries: pl.DataFrame,
    hierarchy: Levels,
    temperature: float,
    words: TitleWords,
    labels: pl.DataFrame,
) -> tuple[
    Float64[np.ndarray, "query level value"],
    Bool[np.ndarray, "query level"],
    Float64[np.ndarray, " query"],
]:
    """Answer queries, none with the help of its own exemplar, and compare with what is right.

    Returned are at each level the logarithm of the odds, then `EVIDENCE`; whether the answer is
    right; and the out-of-domain score.
    """
    values, correct, ood_scores = [], [], []
    index = search.index
    spelling = SpellingCorrector(words, lambda titles: index.positions(titles) >= 0)
    ood_score = OodScore(frozenset(index.titles), words.endings)
    titles = spelling(queries["cleaned"].to_list())
    for batch, hits in without_own_exemplars(search).blocks(titles, 1):
        answers = hits.occupations[:, 0]
        shares = unrounded_shares(hierarchy, hits.scores, temperature, answers)
        aliases = [index.titles[title] for title in hits.titles[:, 0].tolist()]
        names = [index.occupations[code] for code in answers]
        pairs = pl.DataFrame({"occupation_id": names, "cleaned": aliases})
        own = pairs.join(labels, on=["occupation_id", "cleaned"], how="left", maintain_order="left")
        own_labels = own["label"].to_list()
        in_batch, _ = Words.of(titles[batch])
        features = word_evidence(in_batch, aliases, own_labels, hits.top_similarity, words.endings)
        repeated = np.repeat(features[:, None], len(hierarchy), axis=1)
        values.append(np.concatenate([logit(shares)[:, :, None], repeated], axis=2))
        gold = index.gold_positions(queries[batch]["occupation_ids"].to_list())
        correct += [
            hierarchy.agree(np.full(len(codes), answer), np.array(codes, np.int64)).any(axis=0)
            for answer, codes in zip(answers, gold, strict=True)
        ]
        ood_scores.append(ood_score(titles[batch], hits.top_similarity))
    return np.concatenate(values), np.array(correct), np.concatenate(ood_scores)


def unrounded_shares(
    hierarchy: Levels,
    scores: Float32[np.ndarray, "query occupation"],
    temperature: float,
    answers: Int64[np.ndarray, " query"],
) -> Float64[np.ndarray, "query level"]:
    """Return `Levels.shares` without the rounding of its powers, which a fit would follow."""
    (members, starts), made = hierarchy.members, np.empty((len(scores), len(hierarchy)))
    for row, chances in enumerate(posterior(scores, temperature)):
        for level, code in enumerate(hierarchy.codes[:, answers[row]].tolist()):
            alike = members[level, starts[level, code] : starts[level, code + 1]]
            made[row, level] = chances[alike].sum()
    return made


def without_own_exemplars(search: Search) -> Search:
    """Return a search in which no title is helped by an exemplar of the same title."""
    if search.exemplars is None or not search.exemplars.titles:
        return search
    known = len(search.index.titles)
    column = {title: n for n, title in enumerate(search.exemplars.titles, known)}

    def similarities(titles: Sequence[str]) -> Float32[np.ndarray, "query title"]:
        everything = search.similarities(titles)
        for row, title in enumerate(titles):
            if title in column:
                everything[row, column[title]] = -1
        return everything

    return replace(search, similarities=similarities)


class Labelled(NamedTuple):
    """Queries for the fit, if there are enough."""

    queries: pl.DataFrame  # `cleaned, occupation_ids`
    test: str  # that they are of; empty if there are too few
    missing: str  # says so in words


def labelled_queries(
    valid: pl.DataFrame, inputs: pl.DataFrame, trained: Container[str], queried: Container[str]
) -> Labelled:
    """Return what confidence is fitted on: labelled inputs, else held-out titles.

    `valid`: schema `QUERIES`; `inputs`: `SPLIT_INPUTS`, of which the split train counts too, unless
    among the cleaned strings `trained` on or the normalized strings `queried` by a test.
    """
    kept = ("cleaned", "occupation_ids")
    free = inputs.filter(pl.col("cleaned") != "", split="train").drop_nulls("occupation_id")
    readings = free.select("cleaned", "normalized").rows()
    unseen = [title not in trained and name not in queried for title, name in readings]
    free = free.filter(pl.Series(unseen, dtype=pl.Boolean))
    own = free.select("cleaned", occupation_ids=pl.concat_list("occupation_id"))
    labels = pl.concat([valid.filter(test="annotations").select(kept), own])
    if len(labels) >= ENOUGH:
        return Labelled(labels, "annotations", "")
    rows = len(inputs.drop_nulls("occupation_id"))
    more = 10 * ceil((ENOUGH - len(labels)) * rows / max(len(labels), 1) / 10)
    suffix = f", about {more} more rows" if len(labels) else ""
    missing = f"{len(labels)} labelled titles; confidence needs {ENOUGH}{suffix}"
    titles = valid.filter(test="heldout_alias").select(kept)
    test = "heldout_alias" if len(titles) >= ENOUGH else ""
    return Labelled(titles if test else titles.clear(), test, missing)


def made_queries(index: AliasIndex, rng: np.random.Generator) -> pl.DataFrame:
    """Make vague queries of `MADE` titles drawn at random: `cleaned, occupation_ids, is_topic`.

    The last word and the initials mean the title's occupation; the first, a topic, may not.
    """
    rows = []
    titles = [index.titles[row] for row in rng.permutation(len(index.titles)).tolist()]
    for title in [title for title in titles[: 4 * MADE] if len(WORDS.findall(title)) > 1][:MADE]:
        first, *_, last = words = WORDS.findall(title)
        own = [index.occupations[code] for code in index.owners(title)]
        initials = "".join(word[0] for word in words)
        rows += [(last, own, False), (initials, own, False), (first, own, True)]
    owners = {"occupation_ids": pl.List(pl.String)}
    schema: Any = {"cleaned": pl.String, **owners, "is_topic": pl.Boolean}
    return pl.DataFrame(rows, schema=schema, orient="row")


def labels_of_titles(aliases: pl.DataFrame, occupations: pl.DataFrame) -> pl.DataFrame:
    """Return `occupation_id, cleaned, label`: of each title, the label in the title's language.

    Of several languages of a title, that of the occupation's own label comes first; a language
    without a label has this one. In: schemas `SPLIT_ALIASES` and `OCCUPATIONS`.
    """
    spoken = aliases.filter("preferred").select("occupation_id", "language", label="title")
    own = occupations.select("occupation_id", own="occupation_label")
    keys = ["occupation_id", "language"]
    first = spoken.unique(keys, keep="first", maintain_order=True)
    return (
        aliases.join(first, on=keys, how="left")
        .join(own, on="occupation_id")
        .with_columns(pl.col("label").fill_null(pl.col("own")))
        .sort("occupation_id", "cleaned", pl.col("label") != pl.col("own"), "language")
        .unique(["occupation_id", "cleaned"], keep="first", maintain_order=True)
        .select("occupation_id", "cleaned", "label")
    )


def exact_shares(
    aliases: pl.DataFrame, inputs: pl.DataFrame, index: AliasIndex, hierarchy: Levels
) -> list[float]:
    """Return how often inputs that are a title of one occupation alone are labelled so, by level.

    The split calls these `inputs` `known`. A preferred title goes before others' aliases.
    """
    code = {name: number for number, name in enumerate(index.occupations)}
    pairs = []
    known = inputs.filter(split="known").drop_nulls("occupation_id")
    called = aliases.join(known, on="normalized", how="semi")
    owners: dict[tuple[str, bool], set[str]] = defaultdict(set)
    for title, preferred, name in called["normalized", "preferred", "occupation_id"].iter_rows():
        owners[title, preferred].add(name)
    for title, name in known.select("normalized", "occupation_id").iter_rows():
        own = owners[title, True] or owners[title, False]
        if len(own) == 1 and name in code:
            pairs.append([code[next(iter(own))], code[name]])
    return _agreeing(pairs, hierarchy, ASSUMED_RIGHT, ASSUMED)


def agreement(inputs: pl.DataFrame, index: AliasIndex, hierarchy: Levels) -> list[float]:
    """Return how often two labels of one title agree, at each level, but for inputs in `KEPT`."""
    code = {name: number for number, name in enumerate(index.occupations)}
    in_index = pl.col("occupation_id").is_in(index.occupations)
    named = inputs.filter(in_index, ~pl.col("split").is_in(KEPT))
    labels = named.group_by("normalized").agg("occupation_id")["occupation_id"].to_list()
    pairs = [[code[name] for name in own[:2]] for own in labels if len(own) > 1]
    return _agreeing(pairs, hierarchy, PAIRS_AGREEING, PAIRS)


def _agreeing(pairs: list[list[int]], hierarchy: Levels, right: int, seen: int) -> list[float]:
    """Return the share of pairs that agree at each level, after `right` of `seen` further ones."""
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    hits = hierarchy.agree(first, second).sum(axis=0)
    return list(map(float, (hits + right) / (len(pairs) + seen)))
