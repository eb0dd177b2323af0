"""One small run of each study whose figures are a dated snapshot, on a toy."""

from __future__ import annotations

import math
from argparse import Namespace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
import yaml
from hypothesis import given
from hypothesis import strategies as st
from toy_workspace import JOBS, PARAMS, write_board

from benchmarks.__main__ import measure
from benchmarks.pair_networks import strings
from benchmarks.render import pages
from benchmarks.results import Row, read_rows, read_runs
from benchmarks.studies import champion, charagram, contrastive, frozen_space, zoo
from benchmarks.studies.attention import PUBLISHED
from benchmarks.study import study
from benchmarks.workspace import Workspace
from models.losses.contrastive import ContrastiveSettings, contrastive_loss, dissimilar_penalty
from models.losses.von_mises_fisher import log_bessel_i_over_power
from models.text.titles import clean_title
from tasks.evaluation.metric_tables import write_table
from tasks.io.frames import Schema
from tasks.io.schemas import HISTORY, TABLE
from tasks.papers.similarity.readers import STS_FILES
from tasks.papers.table3.effects import EFFECTS
from tasks.papers.table3.stage import SUMMARY
from tasks.pipeline.train import training_settings

STEMS = ("bake", "drive", "mine", "nurse", "pilot", "sing", "teach", "paint")
ENDS = ("", "r", "rs", "d", "ing")
SENTENCES = [f"{stem}{end} and {other}" for stem in STEMS for end in ENDS[:2] for other in STEMS]
APART = {"train": (1, 2, 3), "validation": (5, 8, 9), "test": (4, 6, 7)}
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
    again = read_rows(tmp_path / f"{name}.csv")
    speed = "titles_per_second"
    assert [row for row in again if row["metric"] != speed] == [
        row for row in rows if row["metric"] != speed
    ]
    return rows


def write(path: Path, lines: list[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join("\t".join(map(str, line)) + "\n" for line in lines), encoding="utf-8")


def by_key(rows: list[dict[str, str]]) -> dict[tuple[str, str, str, str], float]:
    return {
        (row["system"], row["test"], row["metric"], row["seed"]): float(row["value"])
        for row in rows
    }


@pytest.mark.parametrize("dataset", ["sick", "msrp"])
def test_attention(dataset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A training pair that is a test pair is left out; a gain is a difference of two systems."""
    monkeypatch.setenv("ROLECALL_DATA", str(tmp_path))
    publisher, folder = PUBLISHED[dataset]
    for part, count in (("train", 18), ("validation", 12), ("test", 15)):
        pairs = [
            (SENTENCES[k], SENTENCES[(k + APART[part][k % 3]) % 18], 3 * k % 5)
            for k in range(count)
        ]
        if part == "train":
            pairs.append((f"{SENTENCES[(3 + 4) % 18]}!", SENTENCES[3].upper(), 2))
        head = ("pair_ID", "sentence_A", "sentence_B", "relatedness_score", "entailment_judgment")
        lines = [head, *((k, a, b, 1 + kind, "N") for k, (a, b, kind) in enumerate(pairs))]
        if dataset == "msrp":
            head = ("Quality", "#1 ID", "#2 ID", "#1 String", "#2 String")
            lines = [head, *((int(kind > 1), k, k, a, b) for k, (a, b, kind) in enumerate(pairs))]
        split = {"validation": "valid"}.get(part, part)
        write(tmp_path / folder / publisher.files[split], lines)
    small = {"learning_rate": 0.01, "encoder.dim_unit": 3}
    tuned = dict.fromkeys(study("attention").config["encoders"], small)
    monkeypatch.setitem(study("attention").config, "tuned", {dataset: tuned})
    figures = by_key(
        run("attention", tmp_path, f"--dataset {dataset} --steps 2 --every 1 --seeds 2")
    )
    metric = {"sick": "pearson", "msrp": "accuracy"}[dataset]
    for seed in ("1", "2", ""):
        gain = figures["attentive_lstm-lstm", "test", f"gain_{metric}", seed]
        both = [figures[name, "test", metric, seed] for name in ("attentive_lstm", "lstm")]
        assert gain == pytest.approx(both[0] - both[1], abs=2e-4)
    assert ("majority", "test", "accuracy", "") in figures or dataset == "sick"
    assert ("word_overlap", "test", metric, "") in figures
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
    sets = [value for key, value in figures.items() if key[0] == "ngram_bag" and "sts2" in key[1]]
    assert len(sets) == 18 * 3
    own = [v for k, v in figures.items() if (k[0], k[3]) == ("ngram_bag", "") and "sts2" in k[1]]
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


def test_weights_of_means_are_the_papers_sum(workspace: Path) -> None:
    """The sum over pairs, one by one, divided by the number of similar ones."""
    base = training_settings(Workspace.read("sample").params.network, 1)
    loss = dict(contrastive.losses(base))["pairs/hinge/margin:0.4"].loss
    similarity = torch.linspace(-0.9, 1.0, 6 * (1 + 4))
    similar = torch.arange(len(similarity)) < 6
    total = 0.0
    for value, alike in zip(similarity, similar, strict=True):
        own = 0.25 * (1 - value) ** 2 if alike else dissimilar_penalty(value, "hinge", 0.4)
        total += float(own)
    made = contrastive_loss(similarity, similar, ~similar, loss)
    assert made.total.item() == pytest.approx(total / 6, rel=1e-5)


@pytest.mark.parametrize(
    ("penalty", "share"), [("printed", 3 / 6), ("flipped", 2 / 6), ("hinge", 2 / 6)]
)
def test_share_with_a_gradient(penalty: str, share: float) -> None:
    """Margin 0.4: printed moves -0.3, 0.1 and 0.3 (not 0, its minimum); the others 0.5 and 0.9."""
    similarity = torch.tensor([-0.3, 0.0, 0.1, 0.3, 0.5, 0.9])
    loss = ContrastiveSettings(penalty, 0.4, 0.25, 1.0, "pairs", 1)  # type: ignore[arg-type]
    assert contrastive.gradient_share(similarity, loss) == pytest.approx(share)


@given(st.integers(0, 100), st.floats(0.1, 200))
def test_density_ranks_as_the_cosine_does(seed: int, norm: float) -> None:
    """With unit u log p(u; û) is log C(‖û‖) + ûᵀu: the first term is the same for all u."""
    draw = torch.Generator().manual_seed(seed)
    targets = torch.nn.functional.normalize(torch.randn(6, 8, generator=draw).double(), dim=1)
    predicted = torch.randn(8, generator=draw).double()
    predicted *= norm / predicted.norm()
    log_c = -4 * math.log(2 * math.pi) - log_bessel_i_over_power(3.0, predicted.norm()[None])
    density = log_c + targets @ predicted
    cosine = targets @ (predicted / predicted.norm())
    assert torch.equal(density.argsort(), cosine.argsort())


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
    tests = {"typos", "composition", "extra_words", "heldout_alias", "annotations", "valid"}
    for test in tests:
        for seed in ("1", "2", ""):
            assert ("projection", test, "success_at_10", seed) in figures
        assert ("projection", test, "gain_over_von_mises_fisher", "") in figures
        assert ("reference", test, "gain_over_free", "") in figures
    assert ("reference", "typos", "success_at_10", "1") not in figures
    with pytest.raises(FileNotFoundError, match="make reproduce"):
        Workspace.read("sample").model("synonyms", 1)


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


def test_labels_agree_as_often_as_two_of_one_title_do() -> None:
    """Two of three alike, then both: of five labels 1/2, 1/2, 0, 1, 1 of the others agree."""
    labels = [("a", "o0"), ("A ", "o0"), ("a", "o1"), ("b", "o1"), ("b", "o1"), ("c", "o0")]
    normalized = [clean_title(title).lower() for title, _ in labels]
    queried = pl.DataFrame({"normalized": normalized, "occupation_id": [own for _, own in labels]})
    (row,) = champion.ceiling_rows(queried)
    assert (row.system, row.test, row.value, row.n) == ("labels", "feedback", 3 / 5, 5)


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
    names = {
        f"{half}/{setting}"
        for half in options.halves
        for setting in ("zero_label", "unlabelled", "feedback")
    }
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


def make_table3(folder: Path, shift: float = 0.0) -> None:
    """Mixes base, typos and corrections of two seeds; their means; a gain."""
    params = yaml.safe_load(PARAMS.read_text(encoding="utf-8")) | {"seeds": [1, 2]}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    tests = (("typos", "all"), ("extra_words", "source:label_agrees"))

    def write_lines(path: str, schema: Schema, lines: list[tuple[Any, ...]]) -> None:
        frame = pl.DataFrame(lines, schema=dict(schema), orient="row")
        write_table(frame, folder / "data" / path, schema)

    def lines(system: str, value: float) -> list[tuple[Any, ...]]:
        ends = (value, value - 0.1, value + 0.1, 40)
        return [(system, *test, m, *ends) for test in tests for m in ("success_at_1", "mrr")]

    write_lines("lexical/table.csv", TABLE, lines("ngram", 0.5) + lines("tfidf", 0.6))
    values = {("base", 1): 0.3, ("base", 2): 0.5, ("typos", 1): 0.6, ("typos", 2): 0.8}
    values |= {("corrections", 1): 0.7, ("corrections", 2): 0.7}
    for (mix, seed), value in values.items():
        table = lines("untrained", 0.1 if mix == "base" else 0.2) + lines(mix, value + shift)
        write_lines(f"evaluate/{mix}/{seed}/table.csv", TABLE, table)
        scores = (0.3, 0.2 if (mix, seed) == ("base", 2) else 0.4)  # which did not learn
        looks = [(100 * look, math.nan, math.nan, math.nan, s) for look, s in enumerate(scores)]
        write_lines(f"train/{mix}/{seed}/history.csv", HISTORY, looks)
    means = {"ngram": (0.5, 1, None), "base": (0.4, 2, 0.1414), "typos": (0.7, 2, 0.1414)}
    summary = [
        (system, *test, m, mean, mean - 0.05, mean + 0.05, 40, seeds, None, None, spread, 0.9)
        for system, (mean, seeds, spread) in means.items()
        for test in tests
        for m in ("success_at_1", "mrr")
    ]
    write_lines("table3/summary.csv", SUMMARY, summary)
    head = ("typos", "base", "typos", "all", "success_at_1")
    effects: list[tuple[Any, ...]] = [(*head, 0.3, 0.2, 0.4, 40, 0.3, 0.4286, 0.8, True, 1)]
    write_lines("table3/effects.csv", EFFECTS, effects)


def test_table3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page has the paper beside; equal lexical figures stand once, lost seeds are named.

    The paper: n-gram 0.99, `base` 0.95, `typos` 0.99 on Typos. `three_seeds` has not run.
    """
    monkeypatch.chdir(tmp_path)
    make_table3(tmp_path)
    make_table3(tmp_path / ".workspaces/paper", shift=0.1)
    out = tmp_path / "out"
    measure(study("table3"), ["--results", str(out)])
    rows = read_rows(out / "table3.csv")
    assert {row["dataset"] for row in rows if row["system"] == "ngram"} == {"sample"}
    assert {row["dataset"] for row in rows} == {"sample", "paper"}
    figures = by_key([row for row in rows if row["dataset"] == "sample"])
    assert figures["typos", "typos", "success_at_1", "2"] == 0.8
    assert figures["typos", "typos", "success_at_1", ""] == 0.7
    assert figures["untrained", "typos", "success_at_1", "1"] == 0.1
    assert figures["base", "training", "best_step", "2"] == 0
    assert figures["typos-base", "typos", "gain_success_at_1", "1"] == 0.3
    assert ("ngram", "typos", "success_at_1", "1") not in figures
    assert [made["command"] for made in read_runs(out).values()] == [
        "make reproduce PROFILE=sample && python -m benchmarks table3 --dataset sample",
        "make reproduce PROFILE=paper && python -m benchmarks table3 --dataset paper",
    ]
    text = pages(out, PARAMS.parent / "docs/results")[Path("docs/results/table3.md")]
    for line in (
        "| system | typos | paper |",
        "| ngram | 0.500 | 0.99 |",
        "| base (0) | 0.400 (seed 2 did not learn) | 0.95 |",
        "| typos (1) | 0.700 | 0.99 |",
    ):
        assert line in text.splitlines(), line
    with pytest.raises(FileNotFoundError, match="run `make reproduce PROFILE=three_seeds`"):
        measure(study("table3"), ["--dataset", "three_seeds"])
