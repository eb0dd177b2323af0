"""What the network takes for alike: n-grams, titles it cannot know, titles that differ by a word.

The counterparts of Tables 10, 9 and 8 of Wieting et al. 2016 (CHARAGRAM, section 5.2), drawn by the
pipeline's seed from the taxonomy and the test queries instead of by hand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from models.repeatable.seeding import child_seed
from models.text.featurizer import Vocabulary
from models.text.titles import normalize_title
from models.text.units import UnitSettings
from tasks.reporting.material import Material
from tasks.reporting.sections.word_pairs import WordPair, word_pairs

if TYPE_CHECKING:
    from jaxtyping import Float

ROWS = 6
NEAREST = 5
FREQUENT = 1000
"""Most frequent n-grams of each order that a row may be about."""
ORDERS = (3, 4)
"""Their orders: shorter ones stand in too many words to mean something."""
BLANK = "␣"
"""Stands for a space at an end of an n-gram, or within."""
LONGEST = 50
"""Of these, those with the longest learned vectors: training moved them far from their start."""


class Near(NamedTuple):
    """A neighbour, its cosine similarity, and whether it is an alias of a right occupation."""

    name: str
    similarity: float
    right: bool = False


class Likened(NamedTuple):
    """A row: what it is about, what else there is to say of that, and what is nearest to it."""

    about: str
    beside: str
    near: list[Near]


def ngrams(material: Material) -> list[Likened]:
    """Return Table 10's counterpart: by learned vectors, or n-grams embedded as if titles."""
    pool, vectors = ngram_pool(material), material.unit_vectors
    about = pool
    if vectors is not None:
        about = _telling(material.index["title"].to_list(), pool, vectors)
    drawn = _drawn(material, about)
    if not drawn:
        return []
    directions = _directions(material.embed(pool) if vectors is None else vectors)
    rows = []
    for ngram in drawn:
        own = pool.index(ngram)
        similarities = directions @ directions[own]
        near = [at for at in _order(similarities) if at != own][:NEAREST]
        found = [Near(_written(pool[at]), float(similarities[at])) for at in near]
        rows.append(Likened(_written(ngram), "", found))
    return rows


def ngram_pool(material: Material) -> tuple[str, ...]:
    """Return the n-grams that are compared: those of the vocabulary, or the most frequent ones."""
    if material.unit_vectors is not None:
        return material.units
    known = frequent_ngrams(material.index["title"].to_list(), ORDERS)
    return tuple(ngram for ngram in known if " " not in ngram)


def misspelt(material: Material) -> list[Likened]:
    """Return Table 9's counterpart, first half."""
    return _nearest_to_queries(material, material.queries.filter(pl.col("test") == "typos"))


def unknown(material: Material) -> list[Likened]:
    """Return its second half: titles with words, named beside, that no title of the index holds."""
    queries = material.queries.filter(pl.col("test") != "typos")
    words = unknown_words(queries["raw_title"], material.index["title"])
    missing = pl.Series("beside", [" ".join(those) for those in words], pl.String)
    return _nearest_to_queries(material, queries.with_columns(missing).filter(missing != ""))


def told_apart(material: Material) -> list[tuple[Likened, float]]:
    """Return Table 8's counterpart: a title, beside it one like it of another occupation.

    With each row goes the similarity of the two.
    """
    places = {title: place for place, title in enumerate(material.index["title"])}
    embeddings = material.index_embeddings
    rows = []
    for pair in _chosen_pairs(material):
        own = places[pair.title]
        similarities = embeddings @ embeddings[own]
        right = set(material.index["occupation_ids"][own])
        near = _nearest(material, similarities, right, but=own)
        alike = float(similarities[places[pair.other]])
        rows.append((Likened(pair.title, pair.other, near), alike))
    return rows


def frequent_ngrams(titles: Sequence[str], orders: Iterable[int]) -> tuple[str, ...]:
    """List the `FREQUENT` most frequent n-grams of each order; a space at both ends counts."""
    longest = max(map(len, titles), default=1)
    units = UnitSettings("ngram", longest, tuple(sorted(orders)), most=FREQUENT)
    return Vocabulary.fit(titles, units).known


def unknown_words(raw_titles: Iterable[str], titles: Iterable[str]) -> list[list[str]]:
    """List the words of each raw title, normalized, that none of `titles` holds."""
    known = {word for title in titles for word in normalize_title(title).split()}
    return [
        [word for word in normalize_title(title).split() if word not in known]
        for title in raw_titles
    ]


def _written(ngram: str) -> str:
    return ngram.replace(" ", BLANK)


def _telling(
    titles: Sequence[str], units: Sequence[str], vectors: Float[np.ndarray, "ngram dim"]
) -> tuple[str, ...]:
    """Choose the `LONGEST` by their vectors of the frequent n-grams that do not span two words.

    Where the vocabulary has none of `ORDERS`, they are of all that it has.
    """
    orders = {len(ngram) for ngram in units}
    known = frequent_ngrams(titles, orders & set(ORDERS) or orders)
    frequent = {ngram for ngram in known if " " not in ngram.strip()}
    lengths = zip(np.linalg.norm(vectors, axis=1).tolist(), units, strict=True)
    ranked = sorted((-length, ngram) for length, ngram in lengths if ngram in frequent)
    return tuple(ngram for _, ngram in ranked[:LONGEST])


def _directions(vectors: Float[np.ndarray, "ngram dim"]) -> Float[np.ndarray, "ngram dim"]:
    """Scale to unit norm; a vector of zeros stays one."""
    scaled: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)
    return scaled


def _chosen_pairs(material: Material) -> list[WordPair]:
    """Choose one pair of each of the words that make most; pairs of another order come first."""
    by_word: dict[str, dict[str, WordPair]] = defaultdict(dict)
    for pair in word_pairs(material.index):
        by_word[pair.word][f"{pair.title}\t{pair.other}"] = pair
    words = sorted(by_word, key=lambda word: (word != "", -len(by_word[word]), word))[:ROWS]
    return [by_word[word][_drawn(material, by_word[word])[0]] for word in words]


def _drawn(material: Material, strings: Iterable[str]) -> list[str]:
    """Draw `ROWS` of the strings, whatever their order."""
    seed = material.params.seed
    drawn = {string: child_seed(seed, "report", "lookalikes", string) for string in strings}
    return sorted(drawn, key=lambda string: (drawn[string], string))[:ROWS]


def _sample(material: Material, queries: pl.DataFrame) -> pl.DataFrame:
    """Draw `ROWS` of the queries, no title twice."""
    drawn = _drawn(material, queries["raw_title"])
    distinct = queries.sort("test", "query_id").unique("raw_title", keep="first")
    return pl.DataFrame({"raw_title": drawn}, schema={"raw_title": pl.String}).join(
        distinct, on="raw_title", maintain_order="left"
    )


def _nearest_to_queries(material: Material, queries: pl.DataFrame) -> list[Likened]:
    """Draw queries, and find the aliases nearest to them; a column `beside` goes with them."""
    asked = _sample(material, queries)
    if asked.is_empty():
        return []
    by_query = material.embed(asked["cleaned"].to_list()) @ material.index_embeddings.T
    beside = asked["beside"].to_list() if "beside" in asked.columns else [""] * len(asked)
    rows = zip(asked["raw_title"], beside, by_query, asked["occupation_ids"], strict=True)
    return [
        Likened(title, other, _nearest(material, similarities, set(gold)))
        for title, other, similarities, gold in rows
    ]


def _nearest(
    material: Material,
    similarities: Float[np.ndarray, " title"],
    right: set[str],
    but: int | None = None,
) -> list[Near]:
    """Return the nearest aliases; equal ones in order of title."""
    near = []
    for place in [at for at in _order(similarities) if at != but][:NEAREST]:
        title, occupations = material.index.row(place)
        near.append(Near(title, float(similarities[place]), bool(right & set(occupations))))
    return near


def _order(similarities: Float[np.ndarray, " near"]) -> list[int]:
    """Return the places of the most similar, one more than are shown."""
    places: list[int] = np.argsort(-similarities, kind="stable")[: NEAREST + 1].tolist()
    return places
