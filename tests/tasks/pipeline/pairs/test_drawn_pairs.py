"""Pairs of titles and of variants by brute force, and blocks on their way through a file."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frames_of import variants_of
from hypothesis import given, settings
from hypothesis import strategies as st
from params_of import pairs_params

from tasks.io.mixes import PAIR_SOURCES
from tasks.io.schemas import STRINGS
from tasks.pipeline.pairs.drawn_pairs import (
    PAIRS,
    base_pairs,
    block,
    new_pairs,
    read_blocks,
    variant_pairs,
    write_blocks,
)
from tasks.pipeline.pairs.strings import AUXILIARY, NOISY, StringOccupations, with_variants

Row = tuple[int, int, bool, str]


def strings_of(owned: list[list[str]], roles: tuple[str, ...] = ()) -> pl.DataFrame:
    """Titles with these occupations; the last ones have `roles`, the others are aliases."""
    named = [*["alias"] * (len(owned) - len(roles)), *roles]
    rows = [(i, f"title {i}", *both) for i, both in enumerate(zip(owned, named, strict=True))]
    return pl.DataFrame(rows, schema=dict(STRINGS), orient="row")


def rows_in(blocks: Iterable[pa.Table]) -> list[Row]:
    return [row for table in blocks for row in zip(*table.to_pydict().values(), strict=True)]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def check_pairs(rows: list[Row], owned: dict[int, set[str]]) -> None:
    """Every pair, looked at: who shares an occupation, who is whom."""
    for anchor, other, similar, source in rows:
        assert bool(owned[anchor] & owned[other]) == similar
        assert anchor != other
        assert similar or source == "base"


def owned_by(strings: pl.DataFrame) -> dict[int, set[str]]:
    return {i: set(own) for i, own in strings.select("string_id", "occupation_ids").rows()}


# "y" and "z" are never shared, so that every title has one that shares no occupation with it
OWNED = st.lists(
    st.sets(st.sampled_from("abc"), min_size=1, max_size=2).map(sorted), min_size=1, max_size=9
).map(lambda own: [*own, ["y"], ["y"], ["z"], ["z"]])


@pytest.mark.thorough
@given(OWNED, st.integers(1, 3), st.integers(0, 4), st.integers(0, 99))
@settings(max_examples=60)
def test_base_pairs(owned: list[list[str]], rounds: int, apart: int, seed: int) -> None:
    strings = strings_of(owned)
    settings = pairs_params(positives_per_anchor=rounds, dissimilar_per_similar=apart)
    (table,) = base_pairs(strings, settings, rng(seed))
    assert table.schema == PAIRS
    rows = rows_in([table])
    check_pairs(rows, owned_by(strings))
    assert {source for *_, source in rows} == {"base"}
    # an anchor stands `rounds` times for each occupation that it shares with another title
    sizes = Counter(o for own in owned for o in own)
    expected = {i: rounds * sum(sizes[o] > 1 for o in own) for i, own in enumerate(owned)}
    similar = Counter(anchor for anchor, _, is_similar, _ in rows if is_similar)
    dissimilar = Counter(anchor for anchor, _, is_similar, _ in rows if not is_similar)
    assert similar == Counter({i: n for i, n in expected.items() if n})
    assert dissimilar == Counter({i: apart * n for i, n in expected.items() if n * apart})


def test_an_auxiliary_taxonomys_strings_are_paired_among_themselves() -> None:
    """Its occupation "a" is not the taxonomy's; the aliases' pairs are those without it."""
    owned = [["a"], ["a"], ["b"], ["b"], ["a"], ["a"], ["c"], ["c"]]
    strings = strings_of(owned, (AUXILIARY, AUXILIARY, AUXILIARY, NOISY))
    frames = (strings.head(4), strings)
    alone, both = (rows_in(base_pairs(frame, pairs_params(), rng())) for frame in frames)
    assert both[: len(alone)] == alone
    rows = both[len(alone) :]
    assert len(rows) == len(alone)
    assert {row[0] for row in rows} == {row[1] for row in rows} == {4, 5, 6, 7}
    check_pairs(rows, owned_by(strings))


def test_positives_come_from_the_own_language_as_often_as_asked_for() -> None:
    """Of "a" four titles in German, four in French and one in Polish, which has no other."""
    spoken = ["de", "fr"] * 4 + ["pl"]
    strings = strings_of([["a"]] * 9 + [["b"]] * 2)
    languages = pl.DataFrame({"title": strings["title"], "language": [*spoken, "de", "de"]})
    for share, least, most in ((0.0, 1.0, 1.0), (0.5, 0.65, 0.74), (1.0, 0.34, 0.41)):
        params = pairs_params(positives_per_anchor=500, across_languages=share)
        rows = rows_in(base_pairs(strings, params, rng(), languages))
        check_pairs(rows, owned_by(strings))
        pairs = [(one, other) for one, other, similar, _ in rows if similar and one < 8]
        own = sum(other < 9 and spoken[one] == spoken[other] for one, other in pairs)
        assert least <= own / len(pairs) <= most
        assert {other for one, other, similar, _ in rows if similar and one == 8} == {*range(8)}


@pytest.mark.thorough
def test_draws_are_uniform() -> None:
    """Title 0 of six in occupation a, 4,000 rounds, within 5 standard deviations.

    Each other title is its positive 800 times, each of the three of b its stranger 4 · 4000 / 3.
    """
    strings = strings_of([["a"]] * 6 + [["b"]] * 3)
    rows = rows_in(base_pairs(strings, pairs_params(positives_per_anchor=4000), rng()))
    drawn = Counter((similar, other) for anchor, other, similar, _ in rows if anchor == 0)
    assert set(drawn) == {(other < 6, other) for other in range(1, 9)}
    for (similar, _), n in drawn.items():
        expected, spread = (800, 640) if similar else (16_000 / 3, 16_000 * 2 / 9)
        assert abs(n - expected) < 5 * spread**0.5


@pytest.mark.thorough
@given(OWNED, st.sampled_from(["typo", "synonym", "extra_words"]), st.integers(0, 99))
@settings(max_examples=25)
def test_variant_pairs(owned: list[list[str]], source: str, seed: int) -> None:
    """A title beside its own variants, `similar` times; its strangers are aliases."""
    titles = strings_of(owned)
    named = {(title, title + x) for title in titles["title"] for x in ("x", "xx")}
    frame = variants_of(sorted(named))
    strings = with_variants(titles, frame, source)
    rows = rows_in(variant_pairs(strings, frame, source, 300, pairs_params(), rng(seed)))
    check_pairs(rows, owned_by(strings))
    role, title = (dict(strings.select("string_id", c).rows()) for c in ("role", "title"))
    own = [row for row in rows if row[3] == source]
    assert (len(own), len(rows)) == (300, 5 * 300)
    assert all(role[anchor] == "alias" for anchor, *_ in rows)
    assert all(similar and (title[one], title[other]) in named for one, other, similar, _ in own)
    assert all(role[other] == "alias" for _, other, similar, _ in rows if not similar)
    none = variant_pairs(titles, frame.clear(), source, 100, pairs_params(), rng())
    assert list(none) == []


@pytest.mark.parametrize(
    ("positive", "shares"),
    [
        ("title", {(0, 6): 3 / 8, (0, 7): 3 / 8, (4, 8): 2 / 8}),
        # its own title too; of two occupations each half of the time
        (
            "occupation",
            {
                **{(0, x): 3 / 8 * (1 / 4 + 1 / 6) for x in (6, 7)},
                **{(1, x): 3 / 8 / 4 for x in (6, 7)},
                **{(title, x): 3 / 8 / 6 for title in (2, 3) for x in (6, 7)},
                **{(title, 8): 2 / 8 / 2 for title in (4, 5)},
            },
        ),
    ],
)
def test_variants_meet_their_title_or_any_of_its_occupations(positive, shares) -> None:
    """Each row of variants is drawn equally often, within 5 standard deviations."""
    strings = strings_of([["a", "b"], ["a"], ["b"], ["b"], ["c"], ["c"]])
    rows = [("title 0", "x"), ("title 0", "y")] * 3 + [("title 4", "z")] * 2
    strings, frame = with_variants(strings, variants_of(rows), "typo"), variants_of(rows)
    params = pairs_params(variant_positive=positive)
    made = rows_in(variant_pairs(strings, frame, "typo", 8000, params, rng()))
    check_pairs(made, owned_by(strings))
    drawn = Counter((anchor, other) for anchor, other, similar, _ in made if similar)
    assert set(drawn) == set(shares)
    for pair, share in shares.items():
        assert abs(drawn[pair] - 8000 * share) < 5 * (8000 * share * (1 - share)) ** 0.5


@pytest.mark.parametrize(
    ("before", "share", "new"), [(800, 0.2, 200), (700, 0.3, 300), (5, 0.5, 5), (9, 0.0, 0)]
)
def test_new_pairs_by_hand(before: int, share: float, new: int) -> None:
    """P · before / (1 - p): 0.2 · 800 / 0.8 = 200, and 200 of 1000 are a fifth."""
    assert new_pairs(before, share) == new


@pytest.mark.parametrize(
    ("owned", "message"),
    [
        ([["a"], ["b"]], r"no similar pair.*every occupation has a single title"),
        ([["a"], ["a"], ["a", "b"]], r"no dissimilar pair.*two occupations or more"),
    ],
)
def test_titles_that_cannot_be_paired(owned: list[list[str]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(base_pairs(strings_of(owned), pairs_params(), rng()))


BLOCK_OWNED = [["a"], ["a", "b"], ["b"], ["c"], ["c"]]
MEMBERS = StringOccupations(np.arange(len(BLOCK_OWNED)), pl.Series(BLOCK_OWNED))
Ids = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=6)


def ids(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    array = np.array(pairs, np.int64).reshape(-1, 2)
    return array[:, 0], array[:, 1]


@given(Ids, Ids, st.lists(st.integers(0, 4), max_size=9), st.sampled_from(PAIR_SOURCES))
@settings(max_examples=60)
def test_a_block_has_similar_then_rejected_pairs_then_strangers(similar, rejected, to, source):
    """The pairs stand as given; strangers share no occupation, and are of source base."""
    made = block(ids(similar), np.array(to, np.int64), source, MEMBERS, rng(), ids(rejected))
    assert made.schema == PAIRS
    rows = rows_in([made])
    own = len(similar) + len(rejected)
    given = [(*pair, True, source) for pair in similar] + [(*p, False, source) for p in rejected]
    assert rows[:own] == given
    assert [anchor for anchor, *_ in rows[own:]] == to
    for anchor, other, alike, named in rows[own:]:
        assert not set(BLOCK_OWNED[anchor]) & set(BLOCK_OWNED[other])
        assert (alike, named) == (False, "base")


def some_blocks() -> Iterator[pa.Table]:
    yield block(ids([(0, 1), (1, 2)]), np.array([0, 0, 1, 1]), "base", MEMBERS, rng())
    yield block(ids([(3, 7)]), np.array([3]), "feedback", MEMBERS, rng(), ids([(2, 8)]))


def test_written_and_read_again(tmp_path: Path) -> None:
    """A row group a block; what is read is what was written, and equal blocks give equal bytes.

    1024 rows hold 1024 // 5 = 204 similar pairs with four others each.
    """
    sizes = [pairs_params(dissimilar_per_similar=n).block_size for n in (4, 0, 2000)]
    assert sizes == [204, 1024, 1]
    rows = write_blocks(some_blocks(), tmp_path / "p")
    base, feedback = {("base", True): 2, ("base", False): 5}, {("feedback", True): 1}
    assert rows == Counter({**base, **feedback, ("feedback", False): 1})
    file = pq.ParquetFile(tmp_path / "p")
    assert [file.metadata.row_group(i).num_rows for i in range(2)] == [6, 3]
    read = list(read_blocks(tmp_path / "p"))
    assert [rows_in([table]) for table in read] == [rows_in([table]) for table in some_blocks()]
    assert {table.schema for table in read} == {PAIRS}
    assert write_blocks(iter(read), tmp_path / "copy") == rows
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "p").read_bytes()


def test_a_writer_that_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    def stopped() -> Iterator[pa.Table]:
        yield from some_blocks()
        raise InterruptedError

    with pytest.raises(InterruptedError):
        write_blocks(stopped(), tmp_path / "p")
    assert list(tmp_path.iterdir()) == []
