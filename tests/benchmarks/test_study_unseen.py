"""Occupations left out, what stays to learn from, and titles that rank each other."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from frames_of import titles_of
from toy_workspace import PARAMS, toy_encoder

from benchmarks import systems
from benchmarks.reduced_pairs import write_reduced
from benchmarks.studies.unseen import measure as unseen
from benchmarks.studies.unseen.left_out import LeftOut, leave_out, stays
from models.text.titles import normalize_title
from tasks.files.frames import write_frame
from tasks.files.schemas import STRINGS
from tasks.pairing.pair_blocks import PAIRS, write_blocks
from tasks.pairing.strings_table import NOISY
from tasks.params.whole import load_params

TITLES = titles_of(
    [
        ("o0", "nurse", "train"),
        ("o0", "sister", "heldout_alias"),
        ("o1", "baker", "train"),
        ("o1", "cook", "train"),
        ("o2", "cook", "train"),
        ("o2", "chef", "valid"),
        ("o3", "pilot", "train"),
    ]
)
OPTIONS = Namespace(
    systems=["ngram", "tfidf", "sentence_encoder", "recurrent", "champion"],
    occupations=2,
    steps=4,
    batch=6,
    recurrent_rate=0.01,
    seeds=2,
    processes=1,
)
ROLES = ["alias", "alias", "valid", "companion", "companion", "typo", "extra_words", "alias", NOISY]


def test_relevant_are_the_others_of_an_occupation() -> None:
    """A title of two occupations has both; one without others asks nothing and is never drawn."""
    everything = leave_out(TITLES, 3, 1)
    assert everything.occupations == {"o0", "o1", "o2"}
    assert everything.titles == ["baker", "chef", "cook", "nurse", "sister"]
    assert everything.relevant.tolist() == [[2, -1], [2, -1], [0, 1], [4, -1], [3, -1]]
    with pytest.raises(ValueError, match="4 occupations of 3 with two titles"):
        leave_out(TITLES, 4, 1)


def test_the_draw_follows_the_seed_alone() -> None:
    rows = [(f"o{k}", f"{front} {k}", "train") for k in range(40) for front in ("a", "b")]
    drawn = [leave_out(titles_of(rows[::step]), 10, seed) for step, seed in ((1, 1), (-1, 1))]
    assert drawn[0].occupations == drawn[1].occupations
    assert len(drawn[0].occupations) == 10
    assert leave_out(titles_of(rows), 10, 2).occupations != drawn[0].occupations


def test_nothing_of_the_occupations_stays(tmp_path: Path) -> None:
    """By occupation whatever the role, by normalized title whatever the occupation; ids anew."""
    rows = [
        ("baker", ["o1"]),
        ("pilot", ["o3"]),
        ("head cook", ["o2", "o3"]),  # of a left-out occupation too
        ("(Chef)", ["onet"]),  # a companion's, and one of the titles normalized
        ("chef de partie", ["onet"]),
        ("bker", ["o1"]),
        ("cook", ["o3"]),
        ("flyer", ["o3"]),
        ("chfe", ["onet"]),  # of a title that goes, perhaps
    ]
    strings = pl.DataFrame(
        [(k, *row, role) for k, (row, role) in enumerate(zip(rows, ROLES, strict=True))],
        schema=STRINGS,
        orient="row",
    )
    write_frame(strings, tmp_path / "all/strings.parquet", STRINGS)
    ids = [(0, 1), (1, 7), (4, 4), (7, 1), (1, 3), (5, 0)]
    columns = [list(side) for side in zip(*ids, strict=True)]
    source = pa.array(["base"] * len(ids)).dictionary_encode()
    similar = [True, True, True, False, False, True]
    block = pa.table([*columns, similar, source], names=PAIRS.names).cast(PAIRS)
    write_blocks([block], tmp_path / "all/pairs.parquet")

    left_out = LeftOut({"o1", "o2"}, [], {"baker", "cook", "chef"}, np.empty((0, 1), np.int64))
    counts = write_reduced(tmp_path / "all", lambda own: stays(own, left_out), tmp_path / "less")
    kept = pl.read_parquet(tmp_path / "less/strings.parquet")
    assert kept["title"].to_list() == ["pilot", "chef de partie", "flyer"]
    assert kept["string_id"].to_list() == [0, 1, 2]
    assert kept["role"].to_list() == ["alias", "companion", "alias"]
    pairs = pl.read_parquet(tmp_path / "less/pairs.parquet")
    assert pairs.select("anchor_id", "other_id", "similar").rows() == [
        (0, 2, True),
        (1, 1, True),
        (2, 0, False),
    ]
    assert counts == {"strings": 3, "pairs": 3}


def test_average_precision_and_reciprocal_rank_by_hand() -> None:
    """Of three others "d" has b and c relevant, at places 1 and 3: (1/1 + 2/3) / 2 = 5/6, 1/1.

    "a" has none and asks nothing. "b" finds d behind c and, tied with it, ahead of a, which is
    earlier by code points: place 2. "c" finds d last. Itself is closest to each, and no document.
    """
    similarity = np.array([[9, 1, 1, 1], [2, 9, 3, 2], [8, 7, 9, 6], [6, 7, 5, 9]], np.float32)
    left_out = LeftOut(set(), list("abcd"), set(), np.array([[-1, -1], [3, -1], [3, -1], [1, 2]]))
    made = unseen.values(lambda asked: similarity[["abcd".index(name) for name in asked]], left_out)
    assert made["query_id"].to_list() == ["1", "2", "3"]
    assert made["average_precision"].to_list() == pytest.approx([1 / 2, 1 / 3, 5 / 6])
    assert made["reciprocal_rank"].to_list() == pytest.approx([1 / 2, 1 / 3, 1])


def test_a_study_on_a_toy(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every system has both figures, the trained ones of each seed; gains are over all others."""
    monkeypatch.setattr(systems, "sentence_encoder", toy_encoder)
    monkeypatch.setattr(unseen.Workspace, "mix", "3")
    options = Namespace(**vars(OPTIONS), kept=tmp_path / "kept")
    (made,) = unseen.measure("sample", options)
    table = pl.DataFrame(made, orient="row", schema=list(unseen.Row._fields))
    for metric in ("mean_average_precision", "mrr"):
        own = table.filter(metric=metric)
        assert set(own["system"]) == set(OPTIONS.systems)
        assert own["value"].is_between(0, 1).all() and set(own["n"]) == {8}
        assert own.filter(system="tfidf")["seed"].to_list() == [None]
        assert own.filter(system="champion")["seed"].to_list() == [1, 2, None]
        means = dict(own.filter(pl.col("seed").is_null()).select("system", "value").iter_rows())
        gained = table.filter(metric=f"gain_{metric}")
        assert dict(gained.select("system", "value").iter_rows()) == pytest.approx(
            {
                f"champion-{name}": means["champion"] - value
                for name, value in means.items()
                if name != "champion"
            }
        )
    titles = pl.read_parquet(workspace / "data/split/titles.parquet")
    left_out = leave_out(titles, 2, 1)
    kept = pl.read_parquet(options.kept / "pairs/strings.parquet")
    assert not {normalize_title(title) for title in kept["title"]} & left_out.normalized
    assert not set(kept["occupation_ids"].explode()) & left_out.occupations
    counted = dict(table.filter(system="data").select("metric", "value").iter_rows())
    assert (counted["occupations"], counted["titles"], counted["strings"]) == (2, 8, len(kept))
    (again,) = unseen.measure("sample", options)  # from what is kept
    assert again == made


def test_a_system_of_no_such_name_is_refused(tmp_path: Path) -> None:
    options = Namespace(**vars(OPTIONS) | {"systems": ["tfidf", "luck"], "kept": tmp_path})
    with pytest.raises(ValueError, match="no systems luck; choose ngram, tfidf"):
        systems.answers(
            [], lambda _: pl.DataFrame(), tmp_path, tmp_path, load_params(PARAMS), options
        )


def test_its_teacher_knows_the_reduced_pairs_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Taught once for the same pairs, anew for others, and not at all without the champion."""
    taught = []

    def teach(pairs: Path, params: object, loss: object, seed: int, out: Path) -> None:
        taught.append((pairs / "strings.parquet").read_text())
        out.mkdir(parents=True)
        (out / "words.parquet").touch()

    monkeypatch.setattr(unseen, "teach", teach)
    params = load_params(PARAMS)
    teacher = params.teacher.model_copy(update={"kind": "sentence_encoder"})
    params = params.model_copy(update={"teacher": teacher})
    folders = set()
    for text, names in (("a", ["champion"]), ("a", ["champion"]), ("b", ["champion"]), ("c", [])):
        for name in ("strings", "pairs"):
            (tmp_path / f"{name}.parquet").write_text(text)
        options = Namespace(kept=tmp_path / "kept", systems=names)
        folders.add(unseen._teacher(tmp_path, params, options))
    assert taught == ["a", "b"] and len(folders) == 3
