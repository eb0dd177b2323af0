"""The study of bags of n-grams on toy files: links, trials, equal examples, rows, the page."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.__main__ import measure, parser
from benchmarks.networks.pair_networks import gold_of, strings
from benchmarks.results import read_rows
from benchmarks.studies.charagram import measure as charagram
from benchmarks.studies.charagram.measure import systems
from benchmarks.studies.charagram.word_pairs import distinct, read
from benchmarks.study import study
from tasks.papers.similarity.readers.semeval import FILES

STEMS = ("bake", "drive", "mine", "nurse", "pilot", "sing", "teach", "paint")
ENDS = ("", "r", "rs", "d", "ing")
SENTENCES = [f"{stem}{end} and {other}" for stem in STEMS for end in ENDS[:2] for other in STEMS]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """40 words linked with those of their stem; 12 SimLex pairs, 4 of them links; small sets."""
    folders = (
        "ppdb",
        "word_similarity",
        "sts/sick2014",
        "sts/msrp",
        *(f"sts/semeval/201{k}" for k in "2345"),
    )
    for folder in folders:
        (tmp_path / folder).mkdir(parents=True)
    lines = [[f"{stem}{end}" for end in ENDS] for stem in STEMS]
    lines += [["baker", "bake"], ["Bake", "BAKER"], ["same", "Same"]]
    (tmp_path / "ppdb/ppdb-xl.txt").write_text("".join(" ".join(x) + "\n" for x in lines))
    judged = [(f"{stem}", f"{stem}r", 8.0 + k / 9) for k, stem in enumerate(STEMS[:4])]
    judged += [(f"{a}ing", f"{b}r", k) for k, (a, b) in enumerate(pairwise(STEMS))]
    (tmp_path / "word_similarity/SimLex-999.txt").write_text(
        "word1\tword2\tSimLex999\n" + "".join(f"{a}\t{b}\t{s}\n" for a, b, s in judged)
    )
    for number, file in enumerate(FILES.values()):
        rows = [f"{k % 6}\t{SENTENCES[k]}\t{SENTENCES[(k * 7 + number) % 128]}\n" for k in range(9)]
        (tmp_path / "sts/semeval" / file).write_text("".join(rows))
    for split in ("test_annotated", "train"):
        rows = [f"{a}\t{SENTENCES[5 * k]}\t{1 + k % 5}\n" for k, a in enumerate(SENTENCES[:11])]
        (tmp_path / f"sts/sick2014/SICK_{split}.txt").write_text(
            "sentence_A\tsentence_B\trelatedness_score\n" + "".join(rows)
        )
    rows = [f"{k % 2}\t1\t2\t{SENTENCES[k]}!\t{SENTENCES[k + 1]}\n" for k in range(20)]
    (tmp_path / "sts/msrp/msr-para-train.tsv").write_text(
        "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n" + "".join(rows)
    )
    monkeypatch.setenv("ROLECALL_DATA", str(tmp_path))
    return tmp_path


def options(*words: str) -> Namespace:
    bounds = "--examples 12 --every 4 --batch 4 --dim 5"
    return parser(study("charagram")).parse_args([*bounds.split(), "--seeds", "2", *words])


def test_links_are_distinct_as_encoders_see_them() -> None:
    pairs = [("a", "b"), ("B", "A"), ("c", "C"), ("1,8", "1.8"), ("x", "y")]
    assert distinct(pairs) == [("a", "b"), ("1,8", "1.8"), ("x", "y")]


def test_what_is_read(data: Path) -> None:
    """8 stems of 4 links each, 4 of them in SimLex. Of 3 more two stand before, one is equal.

    The reader drops "baker bake" itself; "Bake BAKER" and "same Same" are left out here.
    """
    made = read(data, held_out=6)
    assert (len(made.train), len(made.valid)) == (22, 6)
    parts = (made.train, made.valid, made.simlex)
    train, valid, asked = (set(map(frozenset, zip(*strings(own), strict=True))) for own in parts)
    assert not train & valid
    assert not (train | valid) & asked
    assert gold_of(made.simlex).max() == pytest.approx(0.8 + 3 / 90)
    assert sum(name.startswith("sts") for name in made.sentences) == 18
    assert gold_of(made.sentences["sick"]).tolist() == [k % 5 / 4 for k in range(11)]
    again = read(data, held_out=6)
    assert strings(again.train) == strings(made.train)


def test_every_system_sees_as_many_examples() -> None:
    made = systems("ppdb", options())
    assert len(made) == 4
    for system, own in made.items():
        assert (own.max_steps, own.evaluate_every, own.batch_pairs) == (3, 1, 4)
        assert own.patience > own.max_steps
        tuned = study("charagram").config["tuned"]["ppdb"][system]
        assert (own.learning_rate, own.loss.negatives) == tuple(tuned.values())


def test_tiny_study(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are means over sets and differences of systems."""
    monkeypatch.setattr(charagram, "read", partial(read, held_out=6))
    config = study("charagram").config
    narrow = {"dim_character": 4, "widths": [2], "filters": [5]}
    for system, values in (("char_lstm", {"dim_character": 4}), ("convolution", narrow)):
        monkeypatch.setitem(config["encoders"], system, config["encoders"][system] | values)
    bounds = f"--examples 12 --every 4 --batch 4 --dim 5 --results {tmp_path}"
    words = [*bounds.split(), "--seeds", "2", "--processes", "1", "--kept", str(tmp_path / "kept")]
    measure(study("charagram"), words)
    assert len(list((tmp_path / "kept").iterdir())) == 8
    rows = read_rows(tmp_path / "charagram.csv")
    figures = {(row["system"], row["test"], row["metric"], row["seed"]): row for row in rows}
    looks = {row["test"] for row in rows if row["test"].startswith("examples_")}
    assert looks == {f"examples_{count:07d}" for count in (0, 4, 8, 12)}
    for system in config["encoders"]:
        for test in looks:
            assert figures[system, test, "spearman", "2"]["n"] == "11"
        assert figures[system, "simlex", "spearman", ""]["n"] == "11"
        assert figures[system, "sts", "pearson", ""]["n"] == str(18 * 9)
        assert figures[system, "sts2013/FNWN", "pearson", "1"]["n"] == "9"
    sets = [row for key, row in figures.items() if key[0] == "ngram_bag" and key[1][:4] == "sts2"]
    pooled = [float(row["value"]) for row in sets if not row["seed"]]
    mean = float(figures["ngram_bag", "sts", "pearson", ""]["value"])
    assert len(pooled) == 18 and mean == pytest.approx(sum(pooled) / 18, abs=2e-4)
    gain = float(figures["ngram_bag-char_lstm", "sick", "gain_pearson", ""]["value"])
    first, other = (
        float(figures[name, "sick", "pearson", ""]["value"]) for name in ("ngram_bag", "char_lstm")
    )
    assert gain == pytest.approx(first - other, abs=2e-4)
    assert figures["word_overlap", "sick", "pearson", ""]
