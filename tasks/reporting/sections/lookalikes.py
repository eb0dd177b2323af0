"""What the network takes for alike: n-grams, titles it cannot know, titles that differ by a word.

The counterparts of Tables 10, 9 and 8 of Wieting et al. 2016 (CHARAGRAM, section 5.2), drawn by the
pipeline's seed from the taxonomy and the test queries instead of by hand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from models.repeatable.seeding import child_seed
from models.text.featurizer import Vocabulary
from models.text.titles import normalize_title
from models.text.units import UnitSettings
from tasks.reporting.markup import Html, join, number, number_head, paragraph, section, table, tag
from tasks.reporting.material import Material
from tasks.reporting.names import count, share
from tasks.reporting.sections.word_pairs import WordPair, word_pairs

if TYPE_CHECKING:
    from jaxtyping import Float

ROWS = 6
NEAREST = 5
FREQUENT = 1000
"""Most frequent n-grams of each order that a row may be about."""
ORDERS = (3, 4)
"""Their orders: shorter ones stand in too many words to mean something."""
LONGEST = 50
"""Of these, those with the longest learned vectors: training moved them far from their start."""
BLANK = "␣"
ALIASES = "Nearest aliases"


def lookalikes(material: Material) -> Html:
    """Make section `lookalikes`."""
    return section(
        "lookalikes",
        "Nearest neighbours of n-grams, misspelt titles and word pairs",
        paragraph(
            "What the network takes for alike, as Tables 8 to 10 of the CHARAGRAM paper (Wieting "
            "et al. 2016) show it. Rows are drawn by the seed; figures are cosine similarities. "
            "Aliases of a right occupation are bold."
        ),
        _ngram_table(material),
        _misspelt_table(material),
        _unknown_table(material),
        _pair_table(material),
    )


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


def _ngram_table(material: Material) -> Html:
    """Make Table 10's counterpart."""
    titles = material.index["title"].to_list()
    vectors = material.unit_vectors
    if vectors is None:
        pool = about = tuple(n for n in frequent_ngrams(titles, ORDERS) if " " not in n)
        how = (
            f"This network has no vectors of n-grams: the {count(len(pool))} most frequent ones "
            "without a space are embedded as if they were titles."
        )
    else:
        pool = material.units
        about = _telling(titles, pool, vectors)
        how = (
            "Frequent n-grams with long learned vectors, and the n-grams whose vectors are nearest "
            f"of the {count(len(pool))} in the vocabulary. {BLANK} is a space, before or after a "
            "word. N-grams that stand in the same words are alike; look for those that do not."
        )
    drawn = _drawn(material, about)
    if not drawn:
        return paragraph("No n-gram is frequent enough to be shown.")
    directions = _directions(material.embed(pool) if vectors is None else vectors)
    owns = [pool.index(ngram) for ngram in drawn]
    rows = [_ngram_row(own, pool, directions @ directions[own]) for own in owns]
    return join([paragraph(how), table("n-grams (Table 10)", ("n-gram", "Nearest n-grams"), rows)])


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


def _ngram_row(
    own: int, pool: Sequence[str], similarities: Float[np.ndarray, " ngram"]
) -> tuple[object, ...]:
    near = [at for at in _order(similarities) if at != own][:NEAREST]
    cells = [_likened(pool[at].replace(" ", BLANK), similarities[at]) for at in near]
    return pool[own].replace(" ", BLANK), tag("td", join(cells, ", "))


def _misspelt_table(material: Material) -> Html:
    """Make Table 9's counterpart, first half."""
    queries = _sample(material, material.queries.filter(pl.col("test") == "typos"))
    if queries.is_empty():
        return paragraph("No query is a misspelt title.")
    cells = _nearest_to_queries(material, queries)
    rows = zip(queries["raw_title"], cells, strict=True)
    return table("Misspelt titles (Table 9)", ("Title", ALIASES), rows)


def _unknown_table(material: Material) -> Html:
    """Make Table 9's counterpart, second half: words that no title of the index holds."""
    queries = material.queries.filter(pl.col("test") != "typos")
    words = unknown_words(queries["raw_title"], material.index["title"])
    unknown = pl.Series("unknown", [" ".join(missing) for missing in words], pl.String)
    queries = _sample(material, queries.with_columns(unknown).filter(pl.col("unknown") != ""))
    if queries.is_empty():
        return paragraph("No query has a word that is in no alias.")
    cells = _nearest_to_queries(material, queries)
    rows = zip(queries["raw_title"], queries["unknown"], cells, strict=True)
    head = ("Title", "Unknown words", ALIASES)
    return table("Titles with words that are in no alias (Table 9)", head, rows)


def _pair_table(material: Material) -> Html:
    """Make Table 8's counterpart."""
    pairs = _chosen_pairs(material)
    if not pairs:
        return paragraph("No two aliases of different occupations differ by a single word.")
    places = {title: place for place, title in enumerate(material.index["title"])}
    embeddings = material.index_embeddings
    rows = []
    for pair in pairs:
        own = places[pair.title]
        similarities = embeddings @ embeddings[own]
        right = set(material.index["occupation_ids"][own])
        near = _nearest(material, similarities, right, but=own)
        alike = number(share(float(similarities[places[pair.other]])))
        rows.append((pair.title, pair.other, alike, near))
    head = ("Title", "Not the same as", number_head("Similarity"), ALIASES)
    return table("Titles that one word, or their order, tells apart (Table 8)", head, rows)


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


def _nearest_to_queries(material: Material, queries: pl.DataFrame) -> list[Html]:
    by_query = material.embed(queries["cleaned"].to_list()) @ material.index_embeddings.T
    return [
        _nearest(material, similarities, set(gold))
        for similarities, gold in zip(by_query, queries["occupation_ids"], strict=True)
    ]


def _nearest(
    material: Material,
    similarities: Float[np.ndarray, " title"],
    right: set[str],
    but: int | None = None,
) -> Html:
    """Make a cell of the nearest aliases; equal ones in order of title."""
    cells = []
    for place in [at for at in _order(similarities) if at != but][:NEAREST]:
        title, occupations = material.index.row(place)
        name = tag("strong", title) if right & set(occupations) else title
        cells.append(_likened(name, similarities[place]))
    return tag("td", join(cells, ", "))


def _order(similarities: Float[np.ndarray, " near"]) -> list[int]:
    """Return the places of the most similar, one more than are shown."""
    places: list[int] = np.argsort(-similarities, kind="stable")[: NEAREST + 1].tolist()
    return places


def _likened(name: object, similarity: float) -> Html:
    return join([name, " ", tag("small", share(float(similarity)))])
