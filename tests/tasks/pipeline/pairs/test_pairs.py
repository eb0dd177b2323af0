"""Training pairs: counts, shares, and by brute force that no pair is what it must not be."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from frames_of import frame_of, queries_of, titles_of, variants_of, verdicts_of, write_overrides
from hypothesis import given, settings
from hypothesis import strategies as st
from params_of import pairs_params

from tasks.io.frames import Schema, read_frame, write_frame, write_json
from tasks.io.mixes import MIXES
from tasks.io.schemas import (
    AUXILIARY_TITLES,
    EXTRA_WORDS_VARIANTS,
    JUDGED,
    OVERRIDES,
    QUERIES,
    REVIEWS,
    STRINGS,
    SYNONYM_VARIANTS,
    TITLES,
    VARIANTS,
    VERDICTS,
)
from tasks.io.section import load
from tasks.pipeline.pairs.drawn_pairs import base_pairs, new_pairs, variant_pairs
from tasks.pipeline.pairs.pair_blocks import PAIRS, write_blocks
from tasks.pipeline.pairs.params import PairsParams
from tasks.pipeline.pairs.stage import main
from tasks.pipeline.pairs.strings_table import (
    AUXILIARY,
    NO_AUXILIARY,
    NOISY,
    append,
    variant_strings,
)

ROOT = Path(__file__).parents[4]
Row = tuple[int, int, bool, str]


def strings_of(owned: list[list[str]]) -> pl.DataFrame:
    rows = [(i, f"title {i}", own, "alias") for i, own in enumerate(owned)]
    return pl.DataFrame(rows, schema=dict(STRINGS), orient="row")


def with_variants(
    strings: pl.DataFrame, source: str, variants: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    rows = [
        (title, f"{title}{'x' * (i + 1)}") for i in range(variants) for title in strings["title"]
    ]
    frame = variants_of(rows)
    return append(strings, variant_strings(frame, strings, source)), frame


def rows_of(path: Path) -> list[Row]:
    return pl.read_parquet(path).with_columns(pl.col("source").cast(pl.String)).rows()


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
    (block,) = base_pairs(strings, settings, rng(seed))
    assert block.schema == PAIRS
    rows = rows_in([block])
    check_pairs(rows, owned_by(strings))
    assert {source for *_, source in rows} == {"base"}
    # an anchor stands `rounds` times for each occupation that it shares with another title
    sizes = Counter(o for own in owned for o in own)
    expected = {i: rounds * sum(sizes[o] > 1 for o in own) for i, own in enumerate(owned)}
    similar = Counter(anchor for anchor, _, is_similar, _ in rows if is_similar)
    dissimilar = Counter(anchor for anchor, _, is_similar, _ in rows if not is_similar)
    assert similar == Counter({i: n for i, n in expected.items() if n})
    assert dissimilar == Counter({i: apart * n for i, n in expected.items() if n * apart})


def test_a_companions_strings_are_paired_among_themselves() -> None:
    """Its occupation "a" is not the taxonomy's; the aliases' pairs are those without it."""
    aliases = strings_of([["a"], ["a"], ["b"], ["b"]])
    roles = (AUXILIARY, AUXILIARY, AUXILIARY, NOISY)
    beside = pl.DataFrame(
        [
            (f"beside {i}", [own], role)
            for i, (own, role) in enumerate(zip("aacc", roles, strict=True))
        ],
        schema=["title", "occupation_ids", "role"],
        orient="row",
    )
    alone, both = (
        rows_in(base_pairs(strings, pairs_params(), rng()))
        for strings in (aliases, append(aliases, beside))
    )
    assert both[: len(alone)] == alone
    rows = both[len(alone) :]
    assert len(rows) == len(alone)
    assert {row[0] for row in rows} == {row[1] for row in rows} == {4, 5, 6, 7}
    check_pairs(rows, {4: {"a"}, 5: {"a"}, 6: {"c"}, 7: {"c"}})


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
    table = pa.concat_tables(base_pairs(strings, pairs_params(positives_per_anchor=4000), rng()))
    of_zero = pl.DataFrame(table.drop(["source"])).filter(pl.col("anchor_id") == 0)
    positive = Counter(of_zero.filter("similar")["other_id"])
    stranger = Counter(of_zero.filter(~pl.col("similar"))["other_id"])
    assert set(positive) == {1, 2, 3, 4, 5}
    assert all(abs(n - 800) < 5 * 640**0.5 for n in positive.values())
    assert set(stranger) == {6, 7, 8}
    assert all(abs(n - 16_000 / 3) < 5 * (16_000 * 2 / 9) ** 0.5 for n in stranger.values())


@pytest.mark.thorough
@given(OWNED, st.sampled_from(["typo", "synonym", "extra_words"]), st.integers(0, 99))
@settings(max_examples=25)
def test_variant_pairs(owned: list[list[str]], source: str, seed: int) -> None:
    """A title beside its own variants, `similar` times; its strangers are aliases."""
    strings, frame = with_variants(strings_of(owned), source, 2)
    blocks = variant_pairs(strings, frame, source, 300, pairs_params(), rng(seed))
    rows = rows_in(blocks)
    check_pairs(rows, owned_by(strings))
    role, title = (dict(strings.select("string_id", c).rows()) for c in ("role", "title"))
    assert all(role[anchor] == "alias" for anchor, *_ in rows)
    own = [row for row in rows if row[3] == source]
    assert len(own) == 300
    assert len(rows) == 5 * 300
    assert all(similar and role[other] == source for _, other, similar, _ in own)
    assert all(role[other] == "alias" for _, other, similar, _ in rows if not similar)
    named = set(frame.select("title", "variant").rows())
    assert all((title[anchor], title[other]) in named for anchor, other, *_ in own)


def test_variants_are_drawn_uniformly() -> None:
    """Title 0 has three variants, title 1 one: each 1000 of 4000 times, 5 deviations."""
    strings = strings_of([["a"], ["b"]])
    rows = [("title 0", "x"), ("title 0", "y"), ("title 0", "z"), ("title 1", "w")]
    frame = variants_of(rows)
    strings = append(strings, variant_strings(frame, strings, "synonym"))
    blocks = variant_pairs(strings, frame, "synonym", 4000, pairs_params(), rng())
    drawn = Counter((anchor, other) for anchor, other, similar, _ in rows_in(blocks) if similar)
    assert set(drawn) == {(0, 2), (0, 3), (0, 4), (1, 5)}
    assert all(abs(n - 1000) < 5 * 750**0.5 for n in drawn.values())


def test_a_variant_can_meet_any_title_of_its_occupations() -> None:
    """Its own title too; of two occupations each half of the time, 5 deviations."""
    strings = strings_of([["a", "b"], ["a"], ["b"], ["b"], ["c"], ["c"]])
    rows = [("title 0", "x"), ("title 4", "y")]
    frame = variants_of(rows)
    strings = append(strings, variant_strings(frame, strings, "typo"))
    given = pairs_params(variant_positive="occupation")
    made = rows_in(variant_pairs(strings, frame, "typo", 4000, given, rng()))
    check_pairs(made, owned_by(strings))
    drawn = Counter((anchor, other) for anchor, other, similar, _ in made if similar)
    shares = {0: 1 / 4 + 1 / 6, 1: 1 / 4, 2: 1 / 6, 3: 1 / 6}
    of_x = sum(n for (_, other), n in drawn.items() if other == 6)
    assert set(drawn) == {*((title, 6) for title in shares), (4, 7), (5, 7)}
    for title, share in shares.items():
        spread = (of_x * share * (1 - share)) ** 0.5
        assert abs(drawn[title, 6] - of_x * share) < 5 * spread


def test_without_variants_there_are_no_pairs() -> None:
    strings, frame = with_variants(strings_of([["a"], ["a"], ["b"]]), "typo", 0)
    assert list(variant_pairs(strings, frame, "typo", 100, pairs_params(), rng())) == []


@pytest.mark.parametrize(
    ("before", "share", "new"), [(800, 0.2, 200), (700, 0.3, 300), (5, 0.5, 5), (9, 0.0, 0)]
)
def test_new_pairs_by_hand(before: int, share: float, new: int) -> None:
    """P · before / (1 - p): 0.2 · 800 / 0.8 = 200, and 200 of 1000 are a fifth."""
    assert new_pairs(before, share) == new


def test_half_of_the_similar_pairs_are_a_tenth_of_all_rows() -> None:
    """The paper's typo pairs: at 1 : 4, 1000 similar pairs and as many again are 10,000 rows."""
    assert new_pairs(1000, 0.5) / (5 * (1000 + new_pairs(1000, 0.5))) == 0.1


def test_what_cannot_be_paired() -> None:
    with pytest.raises(ValueError, match=r"no similar pair.*every occupation has a single title"):
        list(base_pairs(strings_of([["a"], ["b"]]), pairs_params(), rng()))
    with pytest.raises(ValueError, match=r"no dissimilar pair.*two occupations or more"):
        list(base_pairs(strings_of([["a"], ["a"], ["a", "b"]]), pairs_params(), rng()))


MANY = [[f"o{i % 40}"] for i in range(400)] + [["o1", "o2"], ["o3", "o4", "o5"]]


def test_written_block_by_block(tmp_path: Path) -> None:
    """402 titles have 405 memberships: 405 · 3 · 5 = 6,075 rows, in groups of 204 · 5 = 1,020."""
    strings = strings_of(MANY)
    rows = write_blocks(base_pairs(strings, pairs_params(), rng()), tmp_path / "p")
    file = pq.ParquetFile(tmp_path / "p")
    groups = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
    assert rows == {("base", True): 1215, ("base", False): 4860}
    assert groups == [1020] * 5 + [975]
    check_pairs(rows_of(tmp_path / "p"), owned_by(strings))
    write_blocks(base_pairs(strings, pairs_params(), rng()), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "p").read_bytes()
    write_blocks(base_pairs(strings, pairs_params(), rng(1)), tmp_path / "other")
    assert (tmp_path / "other").read_bytes() != (tmp_path / "p").read_bytes()


TITLE_ROWS = [(f"o{i % 40}", f"Title {i}", "train") for i in range(400)]
VERDICT_ROWS = [
    ("judged right", "title 1", "o1", True, None),
    ("judged wrong", "title 2", "o2", False, None),
    ("corrected", "title 3", "o3", False, "o4"),
    ("mined 7 wrongly", "title 7", "o7", False, "o8"),
]
COUNTS = {"trained": 4, "rejected": {}}
BEFORE = {
    "typos": "base",
    "synonyms": "typos",
    "extra_words": "synonyms",
    "verdicts": "extra_words",
    "corrections": "extra_words",
}
NEW = {
    "typos": "typo",
    "synonyms": "synonym",
    "extra_words": "extra_words",
    "verdicts": "feedback",
    "corrections": "feedback",
}


def write_sources() -> None:
    """The files of all stages before `pairs`, with a mined string that people know better."""
    frame = titles_of(TITLE_ROWS)
    write(frame, "split/titles", TITLES)
    queries = [("q", "heldout_alias", "valid", "Query", ["o1"], 10, "alias")]
    write(queries_of(queries), "split/queries", QUERIES)
    write(NO_AUXILIARY, "auxiliary_taxonomy/titles", AUXILIARY_TITLES)
    titles = frame["title"].to_list()
    write(variants_of((t, f"{t}x") for t in titles), "typos/variants", VARIANTS)
    synonyms = [(t, f"job {i}", "title", "job", "manual") for i, t in enumerate(titles)]
    write(variants_of(synonyms, SYNONYM_VARIANTS), "synonyms/variants", SYNONYM_VARIANTS)
    mined = [(t, f"mined {i}", "mined", None, "train") for i, t in enumerate(titles[:100])]
    mined += [("title 7", "Mined 7 wrongly!", "mined", False, "train")]
    mined += [("title 8", f"asked {split}", "mined", True, split) for split in ("test", "valid")]
    extra_words = variants_of(mined, EXTRA_WORDS_VARIANTS)
    write(extra_words, "extra_words/variants", EXTRA_WORDS_VARIANTS)
    write(verdicts_of(VERDICT_ROWS), "feedback/verdicts", VERDICTS)
    judged = [("judged right", "o1", "correct", False, "o1", False)]
    write(frame_of(judged, JUDGED), "feedback/judged", JUDGED)
    write(
        frame_of(
            [("judged right", "o1", "correct", "o1", "ann", "", None, None, None, False)], REVIEWS
        ),
        "feedback/reviews",
        REVIEWS,
    )
    write_overrides(Path("data/feedback/overrides.parquet"), [("judged right", "o1")])
    write_json(COUNTS, Path("data/feedback/metrics.json"))


def write(frame: pl.DataFrame, name: str, schema: Schema) -> None:
    write_frame(frame, Path(f"data/{name}.parquet"), schema)


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make all six mixes in a folder."""
    folder = tmp_path_factory.mktemp("mixes")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
        params["pairs"] |= {"positives_per_anchor": 2, "pairs_per_verdict": 1000, "row_group": 1024}
        Path("params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
        write_sources()
        for mix in MIXES:
            make(mix, patch)
    return folder


@pytest.fixture
def shares(made_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """All six mixes in a folder, which is the current one; the shares of its parameters."""
    shutil.copytree(made_once, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return load(PairsParams).shares


def make(mix: str, patch: pytest.MonkeyPatch) -> None:
    patch.setattr("sys.argv", ["pairs", "--mix", mix])
    main()


def strings_and_rows(mix: str) -> tuple[pl.DataFrame, list[Row]]:
    folder = Path(f"data/pairs/{mix}")
    return pl.read_parquet(folder / "strings.parquet"), rows_of(folder / "pairs.parquet")


@pytest.mark.thorough
def test_every_mix_keeps_what_was_before_and_adds_its_share(shares: dict[str, float]) -> None:
    """Rows and strings of the mix before come first; shares within rounding; 1 : 4."""
    contradicted_pairs = {
        string
        for string, title in strings_and_rows("extra_words")[0].select("string_id", "title").rows()
        if title == "mined 7 wrongly!"
    }
    assert len(contradicted_pairs) == 1
    for mix, before in BEFORE.items():
        (strings, rows), (first, kept) = strings_and_rows(mix), strings_and_rows(before)
        assert strings.head(len(first)).equals(first)
        similar_before = [row for row in kept if row[2]]
        if mix in ("verdicts", "corrections"):
            similar_before = [row for row in similar_before if row[1] not in contradicted_pairs]
            assert len(similar_before) < len([row for row in kept if row[2]])
            assert not {other for _, other, *_ in rows} & contradicted_pairs
        else:
            assert rows[: len(kept)] == kept
        similar = [row for row in rows if row[2]]
        assert similar[: len(similar_before)] == similar_before
        own = [row for row in similar if row[3] == NEW[mix]]
        assert len(similar) == len(similar_before) + len(own)
        assert abs(len(own) - shares[NEW[mix]] * len(similar)) <= 0.5
        assert len(rows) == 5 * len(similar)
        base = [row for row in rows if row[3] == "base"]
        check_pairs(base, owned_by(strings))
        assert all(row[2] or NEW[mix] == "feedback" for row in rows if row[3] != "base")
        assert max(max(anchor, other) for anchor, other, *_ in rows) < len(strings)


@pytest.mark.thorough
def test_what_is_written_beside_the_pairs(
    shares: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Roles of the strings, counts by source, and the same bytes again."""
    strings, rows = strings_and_rows("corrections")
    roles = {"alias": 400, "valid": 1, "typo": 400, "synonym": 400, "extra_words": 101}
    assert dict(strings["role"].value_counts().rows()) == {**roles, "feedback": 4}
    assert not strings["title"].str.starts_with("asked").any()  # mined queries train nothing
    counts = json.loads(Path("data/pairs/corrections/metrics.json").read_text())
    sums = Counter((source, similar) for *_, similar, source in rows)
    assert counts["pairs"] == len(rows)
    assert counts["strings"] == len(strings)
    assert counts["similar"] == {s: n for (s, similar), n in sums.items() if similar}
    assert counts["dissimilar"] == {s: n for (s, similar), n in sums.items() if not similar}
    assert counts["feedback"] == COUNTS
    for mix, known in (("synonyms", 0), ("corrections", 1)):
        for name, schema in (("judged", JUDGED), ("reviews", REVIEWS), ("overrides", OVERRIDES)):
            assert len(read_frame(Path(f"data/pairs/{mix}/{name}.parquet"), schema)) == known
        before = {p.name: p.read_bytes() for p in Path(f"data/pairs/{mix}").iterdir()}
        make(mix, monkeypatch)
        assert before == {p.name: p.read_bytes() for p in Path(f"data/pairs/{mix}").iterdir()}


def test_verdicts_alone_do_not_know_corrections(shares: dict[str, float]) -> None:
    title = ("corrected", "mined 7 wrongly")
    for mix, owned in (("verdicts", [[], []]), ("corrections", [["o4"], ["o8"]])):
        strings, rows = strings_and_rows(mix)
        judged = strings.filter(pl.col("role") == "feedback", pl.col("title").is_in(title))
        assert judged["occupation_ids"].to_list() == owned
        similar = {other for _, other, alike, source in rows if alike and source == "feedback"}
        assert bool(similar & set(judged["string_id"])) == (mix == "corrections")


def test_contradicted_pairs_can_be_kept(
    shares: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = Path("params.yaml").read_text()
    Path("params.yaml").write_text(
        text.replace("contradicted_pairs: dropped", "contradicted_pairs: kept")
    )
    make("verdicts", monkeypatch)
    (_, kept), (_, rows) = strings_and_rows("extra_words"), strings_and_rows("verdicts")
    assert rows[: len(kept)] == kept
