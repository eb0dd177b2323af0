"""The study of bags of n-grams on toy files: links, trials, equal examples, rows, the page."""

from __future__ import annotations

from argparse import Namespace
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.__main__ import measure, parser
from benchmarks.pair_networks import PairNetwork, PairNetworks, gold_of, strings
from benchmarks.results import read_rows
from benchmarks.studies.charagram import measure as charagram
from benchmarks.studies.charagram.material import NEGATED, distinct, read
from benchmarks.studies.charagram.measure import (
    CELL_MOST,
    CELL_ORDERS,
    cells,
    grids,
    with_values,
)
from benchmarks.study import study
from benchmarks.tuning import TRIALS, Job
from models.training.run import TrainSettings
from tasks.scored.readers.semeval import FILES

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
    for part in ("test_annotated", "train"):
        rows = [f"{a}\t{SENTENCES[5 * k]}\t{1 + k % 5}\n" for k, a in enumerate(SENTENCES[:11])]
        (tmp_path / f"sts/sick2014/SICK_{part}.txt").write_text(
            "sentence_A\tsentence_B\trelatedness_score\n" + "".join(rows)
        )
    rows = [f"{k % 2}\t1\t2\t{SENTENCES[k]}!\t{SENTENCES[k + 1]}\n" for k in range(20)]
    (tmp_path / "sts/msrp/msr-para-train.tsv").write_text(
        "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n" + "".join(rows)
    )
    monkeypatch.setenv("ROLECALL_DATA", str(tmp_path))
    return tmp_path


def options(*words: str) -> Namespace:
    bounds = "--trial-examples 8 --examples 12 --cell-examples 4 --every 4 --batch 4 --dim 5"
    return parser(study("charagram")).parse_args([*bounds.split(), "--seeds", "2", *words])


def test_links_are_distinct_as_encoders_see_them() -> None:
    pairs = [("a", "b"), ("B", "A"), ("c", "C"), ("1,8", "1.8"), ("x", "y")]
    assert distinct(pairs) == [("a", "b"), ("1,8", "1.8"), ("x", "y")]


def test_what_is_read(data: Path) -> None:
    """8 stems of 4 links each, 4 of them in SimLex. Of 3 more two stand before, one is equal.

    The reader drops "baker bake" itself; "Bake BAKER" and "same Same" are left out here.
    """
    material = read(data, held_out=6)
    assert (len(material.train), len(material.valid), len(material.overlapping)) == (22, 6, 26)
    parts = (material.train, material.valid, material.overlapping, material.simlex)
    train, valid, both, asked = (
        set(map(frozenset, zip(*strings(pairs), strict=True))) for pairs in parts
    )
    assert not train & valid
    assert not (train | valid) & asked
    assert both - train == asked & both
    assert material.left_out == 2
    assert material.unlinked == [False] * 4 + [True] * 7
    assert gold_of(material.simlex).max() == pytest.approx(0.8 + 3 / 90)
    assert len(material.sts) == 18 and set(material.sentences) - set(material.sts) == {"sick"}
    assert gold_of(material.sentences["sick"]).tolist() == [k % 5 / 4 for k in range(11)]
    alike, judging, asked_for = (
        set(map(frozenset, zip(*strings(pairs), strict=True)))
        for pairs in (
            material.paraphrases,
            material.held_out_paraphrases,
            material.sentences["sick"],
        )
    )
    assert not alike & judging and not (alike | judging) & asked_for
    assert frozenset((f"{SENTENCES[1]}!", SENTENCES[2])) in alike | judging  # of MSRP, scored 1
    assert len(alike | judging) > 10  # those of STS 2012 that have 4 or 5 as well
    assert set(material.negations) == {f"not/{word}" for word in NEGATED}
    left, right = strings(material.negations["not/able"])
    assert set(left) == {"not able"} and len(right) == len(set(right)) == 40
    again = read(data, held_out=6)
    assert strings(again.train) == strings(material.train)


def test_every_system_has_the_same_six_trials_of_equal_examples() -> None:
    made = [trial for grid in grids(options()) for trial in grid.trials()]
    names: dict[str, list[str]] = {}
    for one in made:
        names.setdefault(one.system, []).append(one.name)
        settings = one.settings
        assert (settings.max_steps, settings.evaluate_every) == (2, 1)
        assert settings.patience > settings.max_steps
        assert one.name == (
            f"learning_rate={settings.learning_rate:g},negatives={settings.loss.negatives}"
        )
    assert len(names) == 4 and len({tuple(several) for several in names.values()}) == 1
    assert all(len(set(several)) == len(several) == TRIALS for several in names.values())


def test_the_papers_figures_have_the_mean_that_stands_below_them() -> None:
    """And the cells are those of its Table 5."""
    paper = study("charagram").face["paper"]
    for figures in paper["sentences"].values():
        sets = [value for test, value in figures.items() if test.startswith("sts2")]
        assert len(sets) == 18
        assert figures["sts"] == pytest.approx(sum(sets) / 18, abs=5e-4)
    for part in ("cells", "sentence_cells"):
        assert list(paper[part]) == ["".join(map(str, orders)) for orders in CELL_ORDERS]
        assert {tuple(row) for row in paper[part].values()} == {tuple(map(str, CELL_MOST))}


def test_bags_of_table_5_keep_rare_ngrams_and_the_tuned_values(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: dict[str, TrainSettings] = {}
    monkeypatch.setattr(charagram, "seeded", lambda several, *_: jobs.update(several) or {})
    material, chosen = read(data, held_out=6), next(grids(options())).base
    networks = PairNetworks(data, 1, material.train, material.valid)
    assert not list(cells(material, chosen, networks, options()))
    assert len(jobs) == 15
    for name, settings in jobs.items():
        encoder = settings.encoder
        assert (encoder.min_count, encoder.dim, settings.max_steps) == (1, 5, 1)
        assert settings.learning_rate == chosen.learning_rate
        assert name == f"ngram_bag/orders:{''.join(map(str, encoder.orders))}/most:{encoder.most}"


def test_variants_are_the_tuned_systems_but_for_what_their_names_say() -> None:
    bases = {grid.system: grid.base for grid in grids(options())}
    made = {
        name: with_values(bases[name.partition("/")[0]], values)
        for name, values in study("charagram").face["variants"].items()
    }
    assert made["ngram_bag/linear"].encoder.activation == "linear"
    assert made["ngram_bag/l2:0.0000001"].l2 == 1e-7
    assert not made["char_lstm/no_gate"].encoder.output_gate
    assert made["convolution/second_filters"].encoder.widths == (1, 2, 3, 4, 5, 6)
    for name, settings in made.items():
        base = bases[name.partition("/")[0]]
        assert settings != base
        assert settings.learning_rate == base.learning_rate


def test_tiny_study(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No trial is seen what judges; figures are means over sets and differences of systems."""
    monkeypatch.setattr(charagram, "read", partial(read, held_out=6))
    monkeypatch.setattr(charagram, "CELL_ORDERS", ((2,), (2, 3)))
    face = study("charagram").face
    narrow = {"dim_character": 4, "widths": [2], "filters": [5]}
    for system, values in (("char_lstm", {"dim_character": 4}), ("convolution", narrow)):
        monkeypatch.setitem(face["encoders"], system, face["encoders"][system] | values)
    monkeypatch.setitem(face, "tried", {"learning_rate": [0.01], "loss.negatives": ["max", "mix"]})
    monkeypatch.setitem(
        face, "variants", {"ngram_bag/linear": {"encoder": {"activation": "linear"}}}
    )
    seen: list[tuple[str, int]] = []
    train = PairNetworks._trained

    def noted(networks: PairNetworks, job: Job) -> PairNetwork:
        seen.append((job.name, len(networks.tests)))
        return train(networks, job)

    monkeypatch.setattr(PairNetworks, "_trained", noted)
    bounds = "--trial-examples 4 --examples 12 --cell-examples 4 --every 4 --batch 4 --dim 5"
    words = [*bounds.split(), "--seeds", "2", "--processes", "1", "--kept", str(tmp_path / "kept")]
    measure(study("charagram"), words, tmp_path)
    assert len(list((tmp_path / "kept").iterdir())) == 8 + 8 + 2 + 2 + 8 + 12
    assert {tests for name, tests in seen if "negatives" in name} == {0}
    assert {tests for name, tests in seen if "negatives" not in name} == {20, 25}
    rows = read_rows(tmp_path / "charagram.csv")
    assert list(study("charagram").meanings(rows))
    figures = {(row["system"], row["test"], row["metric"], row["seed"]): row for row in rows}
    looks = {row["test"] for row in rows if row["test"].startswith("examples_")}
    assert looks == {f"examples_{count:07d}" for count in (0, 4, 8, 12)}
    for system in face["encoders"]:
        for test in looks:
            assert figures[system, test, "spearman", "2"]["n"] == "11"
        assert figures[system, "simlex/unlinked", "spearman", ""]["n"] == "7"
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
    assert figures["ngram_bag/overlapping", "simlex/unlinked", "spearman", ""]["n"] == "7"
    assert figures["ngram_bag/orders:23/most:100", "simlex", "spearman", "2"]
    assert figures["ngram_bag/linear", "valid", "valid_success_at_1", "2"]
    assert figures["word_average/sentences", "sick", "pearson", ""]
    near = [
        row for row in rows if row["system"] == "ngram_bag/sentences" and row["test"] == "not/able"
    ]
    assert len(near) == 3 and all(row["metric"].startswith("near: ") for row in near)
    assert figures["data", "training", "asked_links", ""]["value"] == "4"
    assert figures["word_overlap", "sick", "pearson", ""]
