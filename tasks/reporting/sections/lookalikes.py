"""What the network takes for alike: n-grams, titles that it cannot know, titles a word apart."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.reporting.markup import Html, join, number, number_head, paragraph, section, table, tag
from tasks.reporting.material import Material
from tasks.reporting.names import count, share
from tasks.reporting.nearest import (
    BLANK,
    Likened,
    misspelt,
    ngram_pool,
    ngrams,
    told_apart,
    unknown,
)

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
        _misspelt_table(misspelt(material)),
        _unknown_table(unknown(material)),
        _pair_table(told_apart(material)),
    )


def _ngram_table(material: Material) -> Html:
    """Make Table 10's counterpart."""
    drawn, pool = ngrams(material), count(len(ngram_pool(material)))
    if not drawn:
        return paragraph("No n-gram is frequent enough to be shown.")
    if material.unit_vectors is None:
        how = (
            f"This network has no vectors of n-grams: the {pool} most frequent ones without a "
            "space are embedded as if they were titles."
        )
    else:
        how = (
            "Frequent n-grams with long learned vectors, and the n-grams whose vectors are nearest "
            f"of the {pool} in the vocabulary. {BLANK} is a space, before or after a word. N-grams "
            "that stand in the same words are alike; look for those that do not."
        )
    rows = [(row.about, _near(row)) for row in drawn]
    return join([paragraph(how), table("n-grams (Table 10)", ("n-gram", "Nearest n-grams"), rows)])


def _misspelt_table(drawn: Sequence[Likened]) -> Html:
    """Make Table 9's counterpart, first half."""
    if not drawn:
        return paragraph("No query is a misspelt title.")
    rows = [(row.about, _near(row)) for row in drawn]
    return table("Misspelt titles (Table 9)", ("Title", ALIASES), rows)


def _unknown_table(drawn: Sequence[Likened]) -> Html:
    """Make Table 9's counterpart, second half: words that no title of the index holds."""
    if not drawn:
        return paragraph("No query has a word that is in no alias.")
    rows = [(row.about, row.beside, _near(row)) for row in drawn]
    head = ("Title", "Unknown words", ALIASES)
    return table("Titles with words that are in no alias (Table 9)", head, rows)


def _pair_table(drawn: Sequence[tuple[Likened, float]]) -> Html:
    """Make Table 8's counterpart."""
    if not drawn:
        return paragraph("No two aliases of different occupations differ by a single word.")
    rows = [(row.about, row.beside, number(share(alike)), _near(row)) for row, alike in drawn]
    head = ("Title", "Not the same as", number_head("Similarity"), ALIASES)
    return table("Titles that one word, or their order, tells apart (Table 8)", head, rows)


def _near(row: Likened) -> Html:
    cells = []
    for near in row.near:
        name = tag("strong", near.name) if near.right else near.name
        cells.append(join([name, " ", tag("small", share(near.similarity))]))
    return tag("td", join(cells, ", "))
