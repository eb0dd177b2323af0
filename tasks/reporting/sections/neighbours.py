"""The aliases nearest to sample queries: hits and misses of every test, dealt in turn.

Which queries are shown depends on the pipeline's seed and the query ids only, so a page shows the
same ones again after another training unless they changed between hit and miss.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from models.repeatable.seeding import child_seed
from tasks.reporting.markup import (
    Html,
    join,
    number,
    number_head,
    paragraph,
    section,
    table_head,
    tag,
)
from tasks.reporting.material import Material
from tasks.reporting.names import TESTS, in_order, listed, test_name

NEAREST = 5
HEAD = ("Nearest alias", number_head("Similarity"), "Occupation", "Right?")


def neighbours(material: Material) -> Html:
    """Section `neighbours`."""
    sample = sample_queries(material)
    if sample.is_empty():
        return section("neighbours", "Nearest aliases", paragraph("No test has a query."))
    by_query = material.embed(sample["cleaned"].to_list()) @ material.index_embeddings.T
    blocks = [
        _block(row, similarities, material)
        for row, similarities in zip(sample.iter_rows(named=True), by_query, strict=True)
    ]
    return section(
        "neighbours",
        "Nearest aliases",
        paragraph(
            f"Queries drawn by the seed, hits and misses of every test in turn, each with the "
            f"{NEAREST} aliases of the index whose embeddings are most similar (cosine). Aliases "
            "of a right occupation are marked. Look at the misses: are the neighbours close in "
            "spelling or in meaning?"
        ),
        tag("div", *blocks, class_="grid"),
    )


def sample_queries(material: Material) -> pl.DataFrame:
    """`params.report.neighbours` queries with a column `hit`, from (test, hit or miss) in turn.

    A query whose right answer is tied for the first rank is a hit if its expected success is
    one half or more.
    """
    mine = material.scores.filter(pl.col("system") == material.trained).select(
        "test", "query_id", hit=pl.col("success_at_1") >= 0.5
    )
    queries = material.queries.join(mine, on=["test", "query_id"], maintain_order="left")
    draw = [
        child_seed(material.params.seed, "report", "neighbours", test, query)
        for test, query in queries.select("test", "query_id").iter_rows()
    ]
    drawn = queries.with_columns(draw=pl.Series(draw, dtype=pl.UInt64)).sort("draw", "query_id")
    hands = [
        drawn.filter((pl.col("test") == test) & (pl.col("hit") == hit))
        for test in in_order(drawn["test"], TESTS)
        for hit in (True, False)
    ]
    dealt = pl.concat(_numbered(hand, place) for place, hand in enumerate(hands or [drawn]))
    wanted = material.params.report.neighbours
    return dealt.sort("round", "hand").head(wanted).sort("hand", "round")


def _numbered(hand: pl.DataFrame, place: int) -> pl.DataFrame:
    return hand.with_row_index("round").with_columns(hand=pl.lit(place))


def _block(row: dict[str, object], similarities: np.ndarray, material: Material) -> Html:
    gold = row["occupation_ids"]
    assert isinstance(gold, list)
    wanted = listed([f"“{material.label(occupation)}”" for occupation in gold])
    mark = tag("span", "hit" if row["hit"] else "miss", class_="hit" if row["hit"] else "miss")
    caption = join(
        [
            mark,
            f" {test_name(str(row['test']))}: ",
            tag("strong", row["raw_title"]),
            Html("<br>"),
            f"right: {wanted}",
        ]
    )
    rows = [_row(*answer, gold, material) for answer in _nearest(similarities, material)]
    table = tag("table", tag("caption", caption), table_head(HEAD), tag("tbody", *rows))
    return tag("div", table, class_="scroll card")


def _nearest(
    similarities: np.ndarray, material: Material
) -> Iterator[tuple[str, list[str], float]]:
    """Yield title, occupations, similarity of the nearest aliases; equal ones in order of title."""
    index = material.index
    for place in np.argsort(-similarities, kind="stable")[:NEAREST].tolist():
        title, occupations = index.row(place)
        yield title, occupations, float(similarities[place])


def _row(
    title: str, occupations: list[str], similarity: float, gold: list[str], material: Material
) -> Html:
    right = bool(set(occupations) & set(gold))
    return tag(
        "tr",
        tag("th", title, scope="row"),
        number(f"{similarity:.3f}".replace("-", "−")),
        tag("td", listed([material.label(occupation) for occupation in occupations])),
        tag("td", "✓ right" if right else "–", class_="tick"),
        class_="right" if right else "wrong",
    )
