"""Training pairs: counts, shares, and by brute force that no pair is what it must not be."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.frames import write_frame
from tasks.pairs import (
    PAIRS,
    base_pairs,
    main,
    read_blocks,
    typo_count,
    typo_pairs,
    write_pairs,
)
from tasks.params import PairsParams
from tasks.schemas import QUERIES, SPLIT_ALIASES, STRINGS, VARIANTS
from tasks.strings_table import number, typo_strings

ROOT = Path(__file__).parents[2]


def params(**changes: Any) -> PairsParams:
    values = {"rounds": 3, "dissimilar_per_similar": 4, "typo_share": 0.1, "row_group": 1024}
    return PairsParams(**values | changes)


def strings_of(owned: list[list[str]]) -> pl.DataFrame:
    rows = [(i, f"title {i}", own, "alias") for i, own in enumerate(owned)]
    return pl.DataFrame(rows, schema=dict(STRINGS), orient="row")


def with_typos(strings: pl.DataFrame, variants: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    rows = [
        (title, f"{title}{'x' * (i + 1)}") for i in range(variants) for title in strings["title"]
    ]
    frame = pl.DataFrame(rows, schema=dict(VARIANTS), orient="row")
    return number(pl.concat([strings.drop("string_id"), typo_strings(frame, strings)])), frame


def rows_of(path: Path) -> list[tuple[int, int, bool, str]]:
    return pl.read_parquet(path).with_columns(pl.col("source").cast(pl.String)).rows()


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def check_pairs(rows: list[tuple[int, int, bool, str]], owned: dict[int, set[str]]) -> None:
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


@given(OWNED, st.integers(1, 3), st.integers(0, 4), st.integers(0, 99))
@settings(max_examples=60)
def test_base_pairs(owned: list[list[str]], rounds: int, apart: int, seed: int) -> None:
    strings = strings_of(owned)
    settings = params(rounds=rounds, dissimilar_per_similar=apart)
    (block,) = base_pairs(strings, settings, rng(seed))
    assert block.schema == PAIRS
    rows = [tuple(row.values()) for row in block.to_pylist()]
    check_pairs(rows, owned_by(strings))
    assert {source for *_, source in rows} == {"base"}
    # an anchor stands `rounds` times for each occupation that it shares with another title
    sizes = Counter(o for own in owned for o in own)
    expected = {i: rounds * sum(sizes[o] > 1 for o in own) for i, own in enumerate(owned)}
    similar = Counter(anchor for anchor, _, is_similar, _ in rows if is_similar)
    dissimilar = Counter(anchor for anchor, _, is_similar, _ in rows if not is_similar)
    assert similar == Counter({i: n for i, n in expected.items() if n})
    assert dissimilar == Counter({i: apart * n for i, n in expected.items() if n * apart})


def test_draws_are_uniform() -> None:
    """Title 0 of six in occupation a, 4,000 rounds, within 5 standard deviations.

    Each other title is its positive 800 times, each of the three of b its stranger 4 · 4000 / 3.
    """
    strings = strings_of([["a"]] * 6 + [["b"]] * 3)
    rows = [
        tuple(row.values())
        for block in base_pairs(strings, params(rounds=4000), rng())
        for row in block.to_pylist()
    ]
    positive = Counter(other for anchor, other, similar, _ in rows if similar and anchor == 0)
    stranger = Counter(other for anchor, other, similar, _ in rows if not similar and anchor == 0)
    assert set(positive) == {1, 2, 3, 4, 5}
    assert all(abs(n - 800) < 5 * 640**0.5 for n in positive.values())
    assert set(stranger) == {6, 7, 8}
    assert all(abs(n - 16_000 / 3) < 5 * (16_000 * 2 / 9) ** 0.5 for n in stranger.values())


@given(OWNED, st.floats(0, 0.19), st.integers(1, 3), st.integers(0, 99))
@settings(max_examples=40)
def test_typo_pairs(owned: list[list[str]], share: float, variants: int, seed: int) -> None:
    strings, frame = with_typos(strings_of(owned), variants)
    settings = params(typo_share=share)
    base = sum(len(block) for block in base_pairs(strings, settings, rng(seed)))
    rows = [
        tuple(row.values())
        for block in typo_pairs(strings, frame, base, settings, rng(seed))
        for row in block.to_pylist()
    ]
    check_pairs(rows, owned_by(strings))
    role = dict(strings.select("string_id", "role").rows())
    assert all(role[anchor] == "alias" for anchor, *_ in rows)
    typos = [row for row in rows if row[3] == "typo"]
    assert all(similar and role[other] == "typo" for _, other, similar, _ in typos)
    assert all(role[other] == "alias" for _, other, similar, _ in rows if not similar)
    assert len(rows) == 5 * len(typos)
    title = dict(strings.select("string_id", "title").rows())
    named = set(frame.rows())
    assert all((title[anchor], title[other]) in named for anchor, other, *_ in typos)
    # one typo pair more or less brings five rows: within rounding of the share
    total = base + len(rows)
    assert abs(len(typos) - share * total) <= 0.5 * (1 - 5 * share) + 1e-6


def test_typo_count_by_hand() -> None:
    """1000 rows, p = 0.1, d = 4: 0.1 · 1000 / (1 - 0.5) = 200; 200 / (1000 + 5 · 200) = 0.1."""
    assert typo_count(1000, params()) == 200
    assert typo_count(1000, params(typo_share=0.0)) == 0
    assert typo_count(0, params()) == 0


def test_what_cannot_be_paired() -> None:
    with pytest.raises(ValueError, match=r"no similar pair.*every occupation has a single title"):
        list(base_pairs(strings_of([["a"], ["b"]]), params(), rng()))
    with pytest.raises(ValueError, match=r"no dissimilar pair.*two occupations or more"):
        list(base_pairs(strings_of([["a"], ["a"], ["a", "b"]]), params(), rng()))
    with pytest.raises(ValueError, match=r"no misspelt variant.*typos\.max_draws"):
        strings, frame = with_typos(strings_of([["a"], ["a"], ["b"]]), 0)
        list(typo_pairs(strings, frame, 100, params(), rng()))


MANY = [[f"o{i % 40}"] for i in range(400)] + [["o1", "o2"], ["o3", "o4", "o5"]]


def test_written_and_read_again(tmp_path: Path) -> None:
    """402 titles have 405 memberships: 405 · 3 · 5 = 6,075 rows, in groups of 204 · 5 = 1,020."""
    strings = strings_of(MANY)
    count = write_pairs(base_pairs(strings, params(), rng()), tmp_path / "p")
    file = pq.ParquetFile(tmp_path / "p")
    groups = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    assert count == 6075 == sum(groups)
    assert groups == [1020] * 5 + [975]
    check_pairs(rows_of(tmp_path / "p"), owned_by(strings))
    write_pairs(base_pairs(strings, params(), rng()), tmp_path / "again")
    write_pairs(read_blocks(tmp_path / "p"), tmp_path / "copy")
    contents = {(tmp_path / name).read_bytes() for name in ("p", "again", "copy")}
    assert len(contents) == 1
    write_pairs(base_pairs(strings, params(), rng(1)), tmp_path / "other")
    assert (tmp_path / "other").read_bytes() not in contents


def test_the_row_group_changes_draws_but_no_count(tmp_path: Path) -> None:
    """Draws alternate block by block, so another size of blocks draws others; the anchors stay."""
    strings = strings_of(MANY)
    anchors = []
    for size in (1024, 131_072):
        write_pairs(base_pairs(strings, params(row_group=size), rng()), tmp_path / "p")
        rows = rows_of(tmp_path / "p")
        check_pairs(rows, owned_by(strings))
        anchors.append(Counter((anchor, similar) for anchor, _, similar, _ in rows))
    assert anchors[0] == anchors[1]


def test_a_writer_that_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    def stopped() -> Any:
        yield from base_pairs(strings_of(MANY), params(), rng())
        raise InterruptedError

    with pytest.raises(InterruptedError):
        write_pairs(stopped(), tmp_path / "p")
    assert list(tmp_path.iterdir()) == []


def test_both_stages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stage 1 begins with the rows and strings of stage 0; typo pairs are a tenth of all rows."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    aliases = [(f"o{i % 40}", f"title {i}", i < 40, "train") for i in range(400)]
    frame = pl.DataFrame(aliases, schema=dict(SPLIT_ALIASES), orient="row")
    write_frame(frame, Path("data/split/aliases.parquet"), SPLIT_ALIASES)
    row = ("q", "heldout_alias", "valid", "Query", ["o1"], 10, "alias")
    frame = pl.DataFrame([row], schema=dict(QUERIES), orient="row")
    write_frame(frame, Path("data/split/queries.parquet"), QUERIES)
    frame = pl.DataFrame(
        [(t, f"{t}x") for _, t, *_ in aliases], schema=dict(VARIANTS), orient="row"
    )
    write_frame(frame, Path("data/typos/variants.parquet"), VARIANTS)
    for stage in ("0", "1"):
        monkeypatch.setattr("sys.argv", ["pairs", "--stage", stage])
        main()
    strings = [pl.read_parquet(f"data/pairs/{k}/strings.parquet") for k in (0, 1)]
    rows = [rows_of(Path(f"data/pairs/{k}/pairs.parquet")) for k in (0, 1)]
    assert strings[1].head(401).equals(strings[0])
    assert strings[0]["role"].value_counts().sort("count").rows() == [("valid", 1), ("alias", 400)]
    assert rows[1][: len(rows[0])] == rows[0]
    sources = Counter(source for *_, source in rows[1])
    assert sources["typo"] / len(rows[1]) == pytest.approx(0.1, abs=1e-4)
    similar = sum(is_similar for *_, is_similar, _ in rows[1])
    assert len(rows[1]) == 5 * similar
    check_pairs(rows[1], owned_by(strings[1]))
    assert max(max(anchor, other) for anchor, other, *_ in rows[1]) < len(strings[1])
    before = {p.name: p.read_bytes() for p in Path("data/pairs/1").iterdir()}
    main()
    assert before == {p.name: p.read_bytes() for p in Path("data/pairs/1").iterdir()}
