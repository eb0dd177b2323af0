"""One small run of each study whose figures are a dated snapshot, on a toy."""

import math
from argparse import Namespace
from functools import partial
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml
from toy_workspace import JOBS, PARAMS, write_board

from benchmarks.__main__ import measure
from benchmarks.pair_networks import strings
from benchmarks.render import pages
from benchmarks.results import Row, read_rows, read_runs
from benchmarks.studies import champion, charagram, contrastive, frozen_space, gate, zoo
from benchmarks.studies.attention import PUBLISHED
from benchmarks.study import study
from tasks.evaluation.metric_tables import write_table
from tasks.io.frames import Schema
from tasks.io.schemas import HISTORY, TABLE
from tasks.papers.similarity.readers import STS_FILES
from tasks.papers.table3.effects import EFFECTS
from tasks.papers.table3.stage import SUMMARY

STEMS = ("bake", "drive", "mine", "nurse", "pilot", "sing", "teach", "paint")
ENDS = ("", "r", "rs", "d", "ing")
SENTENCES = [f"{stem}{end} and {other}" for stem in STEMS for end in ENDS[:2] for other in STEMS]
APART = {"train": (1, 2, 3), "valid": (5, 8, 9), "test": (4, 6, 7)}
"""How far behind a sentence the other one of its pair stands: no part has a pair of another."""


def run(name: str, tmp_path: Path, words: str) -> list[dict[str, str]]:
    """Measure a study twice, which trains nothing the second time; return its rows."""
    every = f"{words} --processes 1 --kept {tmp_path}/kept --results {tmp_path}".split()
    measure(study(name), every)
    rows, kept = read_rows(tmp_path / f"{name}.csv"), sorted((tmp_path / "kept").iterdir())
    times = [path.stat().st_mtime_ns for path in kept]
    measure(study(name), every)
    assert sorted((tmp_path / "kept").iterdir()) == kept
    assert [path.stat().st_mtime_ns for path in kept] == times
    both = (rows, read_rows(tmp_path / f"{name}.csv"))
    same, again = ([r for r in own if r["metric"] != "titles_per_second"] for own in both)
    assert same == again
    return rows


def write(path: Path, lines: list[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join("\t".join(map(str, line)) + "\n" for line in lines), encoding="utf-8")


def by_key(rows: list[dict[str, str]]) -> dict[tuple[str, str, str, str], float]:
    key = itemgetter("system", "test", "metric", "seed")
    return {key(row): float(row["value"]) for row in rows}


def test_attention(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A training pair that is a test pair is left out; a gain is a difference of two systems."""
    monkeypatch.setenv("ROLECALL_DATA", str(tmp_path))
    publisher, folder = PUBLISHED["msrp"]
    head = ("Quality", "#1 ID", "#2 ID", "#1 String", "#2 String")
    for part, count in (("train", 18), ("valid", 12), ("test", 15)):
        pairs = [
            (int(3 * k % 5 > 1), k, k, SENTENCES[k], SENTENCES[(k + APART[part][k % 3]) % 18])
            for k in range(count)
        ]
        if part == "train":
            pairs.append((1, 18, 18, f"{SENTENCES[(3 + 4) % 18]}!", SENTENCES[3].upper()))
        write(tmp_path / folder / publisher.files[part], [head, *pairs])
    small = {"learning_rate": 0.01, "encoder.dim_unit": 3}
    tuned = dict.fromkeys(study("attention").config["encoders"], small)
    monkeypatch.setitem(study("attention").config, "tuned", {"msrp": tuned})
    words = "--dataset msrp --steps 2 --every 1 --seeds 2"
    figures = by_key(run("attention", tmp_path, words))
    for seed in ("1", "2", ""):
        gain = figures["attentive_lstm-lstm", "test", "gain_accuracy", seed]
        both = [figures[name, "test", "accuracy", seed] for name in ("attentive_lstm", "lstm")]
        assert gain == pytest.approx(both[0] - both[1], abs=2e-4)
    assert {("majority", ""), ("word_overlap", "")} <= {(key[0], key[3]) for key in figures}
    (made,) = read_runs(tmp_path).values()
    assert made["command"].endswith("--steps 2 --every 1 --patience 6 --seeds 2")


def test_charagram(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No link is held out, trained on and tested at once; `sts` is the mean over 18 sets."""
    monkeypatch.setenv("ROLECALL_DATA", str(tmp_path))
    links = [[f"{stem}{end}" for end in ENDS] for stem in STEMS]
    links += [["baker", "bake"], ["Bake", "BAKER"], ["same", "Same"]]
    (tmp_path / "ppdb").mkdir()
    (tmp_path / "ppdb/ppdb-xl.txt").write_text("".join(" ".join(own) + "\n" for own in links))
    judged = [(f"{stem}", f"{stem}r", 8.0 + k / 9) for k, stem in enumerate(STEMS[:4])]
    judged += [(f"{a}ing", f"{b}r", k) for k, (a, b) in enumerate(pairwise(STEMS))]
    head = ("word1", "word2", "SimLex999")
    write(tmp_path / "word_similarity/SimLex-999.txt", [head, *judged])
    for number, file in enumerate(STS_FILES.values()):
        rows = [(k % 6, SENTENCES[k], SENTENCES[(k * 7 + number) % 128]) for k in range(9)]
        write(tmp_path / "sts/semeval" / file, rows)
    rows = [(a, SENTENCES[5 * k], 1 + k % 5) for k, a in enumerate(SENTENCES[:11])]
    head = ("sentence_A", "sentence_B", "relatedness_score")
    write(tmp_path / "sts/sick2014/SICK_test_annotated.txt", [head, *rows])
    read = partial(charagram.read, held_out=6)
    train, valid, tests = read(tmp_path)
    assert (len(train), len(valid), len(tests)) == (22, 6, 1 + 18 + 1)
    sides = [set(map(frozenset, zip(*strings(own), strict=True))) for own in (train, valid)]
    tested = set(map(frozenset, zip(*strings(tests["simlex"]), strict=True)))
    assert not sides[0] & sides[1] and not (sides[0] | sides[1]) & tested
    monkeypatch.setattr(charagram, "read", read)
    config = study("charagram").config
    narrow = {"dim_character": 4, "widths": [2], "filters": [5]}
    for system, own in (("char_lstm", {"dim_character": 4}), ("convolution", narrow)):
        monkeypatch.setitem(config["encoders"], system, config["encoders"][system] | own)
    words = "--examples 12 --every 4 --batch 4 --dim 5 --seeds 2"
    figures = by_key(run("charagram", tmp_path, words))
    looks = {test for _, test, _, _ in figures if test.startswith("examples_")}
    assert looks == {f"examples_{count:07d}" for count in (0, 4, 8, 12)}
    own = [v for k, v in figures.items() if (k[0], k[3]) == ("ngram_bag", "") and "sts2" in k[1]]
    assert len(own) == 18
    assert figures["ngram_bag", "sts", "pearson", ""] == pytest.approx(np.mean(own), abs=2e-4)
    both = [figures[name, "sick", "pearson", ""] for name in ("ngram_bag", "char_lstm")]
    gain = figures["ngram_bag-char_lstm", "sick", "gain_pearson", ""]
    assert gain == pytest.approx(both[0] - both[1], abs=2e-4)
    assert ("word_overlap", "sick", "pearson", "") in figures


def test_contrastive(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six variants of one margin, which begin alike; the printed penalty is probed untrained."""
    monkeypatch.setattr(contrastive, "MIX", "extra_words")
    monkeypatch.setattr(contrastive, "MARGINS", (0.4,))
    config = study("contrastive").config
    monkeypatch.setitem(config, "datasets", ["sample"])
    monkeypatch.setitem(config, "needs", "data/pairs/extra_words/pairs.parquet")
    rows = run("contrastive", tmp_path, "--steps 3 --every 2")
    assert len({row["system"] for row in rows}) == 1 + 6
    hinge = {row["test"] for row in rows if row["system"] == "pairs/hinge/margin:0.4"}
    assert hinge == {"step_0000", "step_0002", "step_0003", "valid", "training"}
    untrained = {row["test"] for row in rows if row["system"] == "untrained/printed/margin:0.4"}
    assert untrained == {"dissimilar_pairs"}
    assert len({row["value"] for row in rows if row["test"] == "step_0000"}) == 1


def test_frozen_space(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two losses and `free`, beside the reference, which alone has no seed."""
    frozen = {"kind": "frozen_margin", "negatives": "projection"}
    compared = {"von_mises_fisher": {"kind": "von_mises_fisher"}, "projection": frozen}
    monkeypatch.setattr(frozen_space, "COMPARED", compared)
    monkeypatch.setattr(frozen_space, "FROZEN", ("projection",))
    tuned = {system: {"learning_rate": 0.01} for system in (*compared, "free")}
    monkeypatch.setitem(study("frozen_space").config, "tuned", {"sample": tuned})
    rows = run("frozen_space", tmp_path, "--steps 2 --seeds 2")
    figures = by_key(rows)
    assert {system for system, *_ in figures} == {*compared, "free", "reference"}
    for test in ("typos", "composition", "extra_words", "heldout_alias", "annotations", "valid"):
        for seed in ("1", "2", ""):
            assert ("projection", test, "success_at_10", seed) in figures
        assert ("projection", test, "gain_over_von_mises_fisher", "") in figures
        assert ("reference", test, "gain_over_free", "") in figures
    assert ("reference", "typos", "success_at_10", "1") not in figures


def test_zoo(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three encoders; all but the best, and the lexical systems, have a difference to it."""
    kinds = ("recurrent", "ngram_bag", "word_average")
    tuned = {f"{kind}+margin": {"learning_rate": 0.01} for kind in kinds}
    monkeypatch.setitem(study("zoo").config, "tuned", {"sample": tuned})
    rows = run("zoo", tmp_path, "--steps 4 --seeds 2 --repeats 1 --titles 30")
    systems = {row["system"] for row in rows if "+" in row["system"]}
    assert systems == set(tuned)
    compared = {row["system"] for row in rows if row["metric"] == "gain_over_best"}
    assert compared >= set(zoo.LEXICAL) and len(systems - compared) == 1
    speed = {(row["system"], row["test"]) for row in rows if row["metric"] == "titles_per_second"}
    assert speed == {(own, "encoding") for own in kinds}


def test_champion(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every setting has every metric, of each seed and of all; the lexical systems have one."""
    fronts = [one + two for one in "abcdefghijkl" for two in "mnopqrstuvwx"]
    write_board(tmp_path, [(f"{f} {job}", f"o{k}") for k, job in enumerate(JOBS) for f in fronts])
    monkeypatch.setattr(champion, "data_folder", lambda: tmp_path)
    options = Namespace(
        **{"halves": ["choice", "odd"], "steps": 8, "batch": 6, "seeds": 2, "processes": 1},
        **{"prior_power": 0.5, "prediction_weight": 0.5, "untrained": ["ngram", "tfidf"]},
        **{"timed": 5, "repeats": 1, "kept": tmp_path / "kept"},
    )
    (made,) = champion.measure("sample", options)
    table = pl.DataFrame(made, orient="row", schema=list(Row._fields))
    ranked = table.filter(pl.col("metric").is_in(["success_at_1", "success_at_10", "mrr"]))
    settings = ("zero_label", "unlabelled", "feedback")
    names = {f"{half}/{setting}" for half in options.halves for setting in settings}
    assert set(ranked.filter(system="champion")["test"]) == names
    alone = set(ranked.filter(system="champion/alone")["test"])
    assert alone == {"choice/zero_label", "odd/zero_label"}
    assert ranked.filter(system="champion")["seed"].unique().to_list() == [None, 1, 2]
    lexical = ranked.filter(pl.col("system").is_in(["ngram", "tfidf"]))
    assert set(lexical["test"]) == alone
    speeds = table.filter(metric="titles_per_second")
    assert speeds["system"].to_list() == ["champion", "ngram", "tfidf"]
    weights = dict(table.filter(metric="megabytes").select("system", "value").rows())
    assert weights["champion/single"] > weights["champion"] > 0


def test_gate(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten queries a test cannot show anything, ten thousand can."""
    tests = {"annotations": gate.GateTest(10, 0.1, 0.5, 643, 0.2)}
    monkeypatch.setattr(gate, "read_tests", lambda _: tests)
    options = Namespace(
        replays=40, labels=[10_000], answers=[1000], labelled=[-0.03, 0.03], elsewhere=[]
    )
    (rows,) = gate.measure("sample", options)
    values = {(row.system, row.test): row.value for row in rows if row.metric == "promoted"}
    assert values == {
        (gate.STANDS, "annotations:-0.03"): 0,
        (gate.STANDS, "annotations:+0.03"): pytest.approx(0, abs=0.1),
        ("labels:10000", "annotations:-0.03"): 0,
        ("labels:10000", "annotations:+0.03"): 1,
        ("random:1000", "annotations:-0.03"): pytest.approx(0, abs=0.15),
        ("random:1000", "annotations:+0.03"): pytest.approx(0.1, abs=0.15),
        ("answers:1000", "annotations:-0.03"): pytest.approx(0, abs=0.15),
        ("answers:1000", "annotations:+0.03"): pytest.approx(0.9, abs=0.1),
        **{
            (system, f"customer:{of[-5:]}"): pytest.approx(value, abs=0.2)
            for (system, of), value in values.items()
            if system in ("random:1000", "answers:1000") and "annotations" in of
        },
    }
    random, both = (values[name, "annotations:+0.03"] for name in ("random:1000", "answers:1000"))
    assert both > random + 0.1
    (again,) = gate.measure("sample", options)
    assert again == rows


def make_table3(folder: Path) -> None:
    """Mixes base, typos and corrections of two seeds; their means; a gain."""
    params = yaml.safe_load(PARAMS.read_text(encoding="utf-8")) | {"seeds": [1, 2]}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    of = [("typos", "all", metric) for metric in ("success_at_1", "mrr")]

    def write_lines(path: str, schema: Schema, lines: list[tuple[Any, ...]]) -> None:
        frame = pl.DataFrame(lines, schema=dict(schema), orient="row")
        write_table(frame, folder / "data" / path, schema)

    def lines(*values: tuple[str, float]) -> list[tuple[Any, ...]]:
        return [(name, *own, v, v - 0.1, v + 0.1, 40) for name, v in values for own in of]

    write_lines("lexical/table.csv", TABLE, lines(("ngram", 0.5), ("tfidf", 0.6)))
    for mix, values in {"base": (0.3, 0.5), "typos": (0.6, 0.8), "corrections": (0.7, 0.7)}.items():
        for seed, value in enumerate(values, 1):
            table = lines(("untrained", 0.1 if mix == "base" else 0.2), (mix, value))
            write_lines(f"evaluate/{mix}/{seed}/table.csv", TABLE, table)
            scores = (0.3, 0.2 if (mix, seed) == ("base", 2) else 0.4)  # which did not learn
            looks = [(100 * look, *[math.nan] * 3, score) for look, score in enumerate(scores)]
            write_lines(f"train/{mix}/{seed}/history.csv", HISTORY, looks)
    summary = [
        (system, *own, mean, mean - 0.05, mean + 0.05, 40, seeds, None, None, spread, 0.9)
        for system, mean, seeds, spread in (
            *(("ngram", 0.5, 1, None), ("base", 0.4, 2, 0.1414), ("typos", 0.7, 2, 0.1414)),
        )
        for own in of
    ]
    write_lines("table3/summary.csv", SUMMARY, summary)
    gain = ("typos", "base", *of[0], 0.3, 0.2, 0.4, 40, 0.3, 0.4286, 0.8, True, 1)
    write_lines("table3/effects.csv", EFFECTS, [gain])


def test_table3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page has the paper beside; equal lexical figures stand once, lost seeds are named.

    The paper: n-gram 0.99, `base` 0.95, `typos` 0.99 on Typos. `three_seeds` has not run.
    """
    monkeypatch.chdir(tmp_path)
    make_table3(tmp_path)
    make_table3(tmp_path / ".workspaces/paper")
    out = tmp_path / "out"
    measure(study("table3"), ["--results", str(out)])
    rows = read_rows(out / "table3.csv")
    assert {row["dataset"] for row in rows if row["system"] == "ngram"} == {"sample"}
    assert {row["dataset"] for row in rows} == {"sample", "paper"}
    figures = by_key([row for row in rows if row["dataset"] == "sample"])
    assert figures["typos", "typos", "success_at_1", "2"] == 0.8
    assert figures["untrained", "typos", "success_at_1", "1"] == 0.1
    assert figures["base", "training", "best_step", "2"] == 0
    assert figures["typos-base", "typos", "gain_success_at_1", "1"] == 0.3
    assert ("ngram", "typos", "success_at_1", "1") not in figures
    assert [made["command"] for made in read_runs(out).values()] == [
        f"make reproduce PROFILE={name} && python -m benchmarks table3 --dataset {name}"
        for name in ("sample", "paper")
    ]
    text = pages(out, PARAMS.parent / "docs/results")[Path("docs/results/table3.md")]
    assert set(text.splitlines()) >= {
        *("| system | typos | paper |", "| ngram | 0.500 | 0.99 |", "| typos (1) | 0.700 | 0.99 |"),
        "| base (0) | 0.400 (seed 2 did not learn) | 0.95 |",
    }
    with pytest.raises(FileNotFoundError, match="run `make reproduce PROFILE=three_seeds`"):
        measure(study("table3"), ["--dataset", "three_seeds"])
