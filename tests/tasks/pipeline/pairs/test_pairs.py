"""The stage `pairs` on files: every mix, its share, its counts, and what depends on feedback."""

import json
import shutil
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from frames_of import queries_of, resolutions_of, titles_of, variants_of, write_overrides
from params_of import write_params

from tasks.io import schemas
from tasks.io.files import write_json
from tasks.io.frames import Schema, write_frame
from tasks.io.mixes import MIXES, mix_before, reads_feedback
from tasks.io.section import load
from tasks.pipeline.pairs.drawn_pairs import PairsParams
from tasks.pipeline.pairs.stage import main
from tasks.pipeline.pairs.strings import NO_AUXILIARY

ROOT = Path(__file__).parents[4]
Row = tuple[int, int, bool, str]
TITLE_ROWS = [(f"o{i % 40}", f"Title {i}", "train") for i in range(400)]
RESOLVED = [
    ("judged right", "title 1", "o1", True, None),
    ("judged wrong", "title 2", "o2", False, None),
    ("corrected", "title 3", "o3", False, "o4"),
    ("mined 7 wrongly", "title 7", "o7", False, "o8"),
]
NEW = {"typos": "typo", "synonyms": "synonym", "extra_words": "extra_words"}
NEW |= {"verdicts": "feedback", "corrections": "feedback"}


def write_sources() -> None:
    """The files of all stages before `pairs`, with a mined string that people know better."""
    frame = titles_of(TITLE_ROWS)
    write(frame, "split/titles", schemas.TITLES)
    queries = [("q", "heldout_alias", "valid", "Query", ["o1"], 10, "alias")]
    write(queries_of(queries), "split/queries", schemas.QUERIES)
    write(NO_AUXILIARY, "auxiliary_taxonomy/titles", schemas.AUXILIARY_TITLES)
    titles = frame["title"].to_list()
    write(variants_of((t, f"{t}x") for t in titles), "typos/variants", schemas.VARIANTS)
    synonyms = [(t, f"job {i}", "title", "job", "manual") for i, t in enumerate(titles)]
    reworded = variants_of(synonyms, schemas.SYNONYM_VARIANTS)
    write(reworded, "synonyms/variants", schemas.SYNONYM_VARIANTS)
    mined = [(t, f"mined {i}", "mined", None, "train") for i, t in enumerate(titles[:100])]
    mined += [("title 7", "Mined 7 wrongly!", "mined", False, "train")]
    mined += [("title 8", f"asked {split}", "mined", True, split) for split in ("test", "valid")]
    extra_words = variants_of(mined, schemas.EXTRA_WORDS_VARIANTS)
    write(extra_words, "extra_words/variants", schemas.EXTRA_WORDS_VARIANTS)
    none = ("nobody agreed on", None, "o1", False, None)
    write(resolutions_of([*RESOLVED, none]), "feedback/resolutions", schemas.RESOLUTIONS)
    write(pl.DataFrame(schema=dict(schemas.VERDICTS)), "feedback/verdicts", schemas.VERDICTS)
    write_overrides(Path("data/feedback/overrides.parquet"), [("judged right", "o1")])
    write_json({"trained": 4}, Path("data/feedback/metrics.json"))


def write(frame: pl.DataFrame, name: str, schema: Schema) -> None:
    write_frame(frame, Path(f"data/{name}.parquet"), schema)


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make all six mixes in a folder."""
    folder = tmp_path_factory.mktemp("mixes")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        few = {"positives_per_anchor": 2, "pairs_per_verdict": 1000, "row_group": 1024}
        write_params(pairs=few)
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
    pairs = pl.read_parquet(folder / "pairs.parquet").with_columns(pl.col("source").cast(pl.String))
    return pl.read_parquet(folder / "strings.parquet"), pairs.rows()


@pytest.mark.thorough
def test_every_mix_keeps_the_pairs_before_and_adds_its_share(shares: dict[str, float]) -> None:
    """Rows and strings of the mix before come first; shares within rounding; 1 : 4.

    Mixes with feedback leave out the pairs that it contradicts. A dissimilar pair of source `base`
    shares no occupation, and any other pair is similar, or rejected by feedback.
    """
    strings, _ = strings_and_rows("extra_words")
    (contradicted,) = strings.filter(title="mined 7 wrongly!")["string_id"]
    for mix in MIXES[1:]:
        (strings, rows), (first, kept) = strings_and_rows(mix), strings_and_rows(mix_before(mix))
        assert strings.head(len(first)).equals(first)
        similar_before = [row for row in kept if row[2]]
        if reads_feedback(mix):
            assert contradicted in {other for _, other, *_ in similar_before}
            similar_before = [row for row in similar_before if row[1] != contradicted]
            assert contradicted not in {other for _, other, *_ in rows}
        else:
            assert rows[: len(kept)] == kept
        similar = [row for row in rows if row[2]]
        assert similar[: len(similar_before)] == similar_before
        own = [row for row in similar if row[3] == NEW[mix]]
        assert len(similar) == len(similar_before) + len(own)
        assert abs(len(own) - shares[NEW[mix]] * len(similar)) <= 0.5
        assert len(rows) == 5 * len(similar)
        owned = {i: set(o) for i, o in strings.select("string_id", "occupation_ids").rows()}
        for anchor, other, alike, source in rows:
            assert anchor != other
            if source == "base":
                assert bool(owned[anchor] & owned[other]) == alike
            else:
                assert alike or NEW[mix] == "feedback"


@pytest.mark.thorough
def test_roles_counts_and_equal_bytes(shares, monkeypatch) -> None:
    strings, rows = strings_and_rows("corrections")
    roles = {"alias": 400, "valid": 1, "typo": 400, "synonym": 400, "extra_words": 101}
    assert dict(strings["role"].value_counts().rows()) == {**roles, "feedback": 4}
    assert not strings["title"].str.starts_with("asked").any()  # mined queries train nothing
    counts = metrics("corrections")
    sums = Counter((source, similar) for *_, similar, source in rows)
    assert (counts["pairs"], counts["strings"]) == (len(rows), len(strings))
    assert counts["similar"] == {s: n for (s, similar), n in sums.items() if similar}
    assert counts["dissimilar"] == {s: n for (s, similar), n in sums.items() if not similar}
    for mix in ("synonyms", "corrections"):
        before = {p.name: p.read_bytes() for p in Path(f"data/pairs/{mix}").iterdir()}
        make(mix, monkeypatch)
        assert before == {p.name: p.read_bytes() for p in Path(f"data/pairs/{mix}").iterdir()}


def metrics(mix: str) -> dict:
    return json.loads(Path(f"data/pairs/{mix}/metrics.json").read_text())


def test_the_counts_hold_the_hash_of_the_feedback_that_a_mix_learns_from(shares, monkeypatch):
    """By it DVC knows that the readers of `data/feedback` must run again."""
    assert "feedback" not in metrics("extra_words")
    before = metrics("verdicts")["feedback"]
    write_overrides(Path("data/feedback/overrides.parquet"), [("judged right", "o2")])
    make("verdicts", monkeypatch)
    assert before not in (metrics("verdicts")["feedback"], None)


def test_the_mix_verdicts_knows_no_corrections(shares: dict[str, float]) -> None:
    title = ("corrected", "mined 7 wrongly")
    for mix, owned in (("verdicts", [[], []]), ("corrections", [["o4"], ["o8"]])):
        strings, rows = strings_and_rows(mix)
        inputs = strings.filter(pl.col("title").is_in(title), role="feedback")
        assert inputs["occupation_ids"].to_list() == owned
        similar = {other for _, other, alike, source in rows if alike and source == "feedback"}
        assert bool(similar & set(inputs["string_id"])) == (mix == "corrections")


def test_contradicted_pairs_can_be_kept(shares, monkeypatch) -> None:
    write_params(pairs={"contradicted_pairs": "kept"})
    make("verdicts", monkeypatch)
    (_, kept), (_, rows) = strings_and_rows("extra_words"), strings_and_rows("verdicts")
    assert rows[: len(kept)] == kept
