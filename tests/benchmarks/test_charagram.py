"""The study of bags of n-grams on toy files: links, trials, equal examples, rows, the page."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks import charagram
from benchmarks.charagram import CELL_MOST, CELL_ORDERS, SYSTEMS, Bounds, main, trials, tuned
from benchmarks.charagram_data import distinct, read
from benchmarks.names import unnamed
from benchmarks.paper_figures import CELL_ORDERS as PAPER_ORDERS
from benchmarks.paper_figures import WIETING_CELLS
from benchmarks.render import page
from benchmarks.results_file import read_rows
from benchmarks.scored_sets import StringPairs
from benchmarks.tuning import TRIALS, Job, Outcome
from models.encoders.ngram_bag import NgramBagSettings
from models.training import Look
from tasks.readers.semeval import FILES

STEMS = ("bake", "drive", "mine", "nurse", "pilot", "sing", "teach", "paint")
ENDS = ("", "r", "rs", "d", "ing")
SENTENCES = [f"{stem}{end} and {other}" for stem in STEMS for end in ENDS[:2] for other in STEMS]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """40 words linked with those of their stem; 12 SimLex pairs, 4 of them links; small sets."""
    folders = ("ppdb", "word_similarity", "sts/sick2014", *(f"sts/semeval/201{k}" for k in "2345"))
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
    for number, (name, file) in enumerate(FILES.items()):
        if name.endswith(".test"):
            rows = [
                f"{k % 6}\t{SENTENCES[k]}\t{SENTENCES[(k * 7 + number) % 128]}\n" for k in range(9)
            ]
            (tmp_path / "sts/semeval" / file).write_text("".join(rows))
    rows = [f"{a}\t{SENTENCES[5 * k]}\t{1 + k % 5}\n" for k, a in enumerate(SENTENCES[:11])]
    (tmp_path / "sts/sick2014/SICK_test_annotated.txt").write_text(
        "sentence_A\tsentence_B\trelatedness_score\n" + "".join(rows)
    )
    monkeypatch.setenv("ROLECALL_DATA", str(tmp_path))
    return tmp_path


def bounds(folder: Path, **changes: int) -> Bounds:
    numbers = {"trial_examples": 8, "examples": 12, "cell_examples": 4, "every": 4, "batch": 4}
    numbers |= {"dim": 5, "seeds": 2, "processes": 1}
    return Bounds(folder=folder, **numbers | changes)


def test_links_are_distinct_as_encoders_see_them() -> None:
    pairs = StringPairs(["a", "B", "c", "1,8", "x"], ["b", "A", "C", "1.8", "y"])
    assert distinct(pairs) == (["a", "1,8", "x"], ["b", "1.8", "y"], None)


def test_what_is_read(data: Path) -> None:
    """8 stems of 4 links each. Of 3 more, two stand before and one is of equal words.

    The reader drops "baker bake" itself; "Bake BAKER" and "same Same" are left out here.
    """
    material = read(data, held_out=6)
    assert (len(material.train.left), len(material.valid.left)) == (26, 6)
    both = [set(zip(*pairs[:2], strict=True)) for pairs in (material.train, material.valid)]
    assert not both[0] & both[1]
    assert material.left_out == 2
    assert material.unlinked == [False] * 4 + [True] * 7
    assert max(material.simlex.scores or []) == pytest.approx(0.8 + 3 / 90)
    assert len(material.sts) == 18 and set(material.sentences) - set(material.sts) == {"sick"}
    assert material.sentences["sick"].scores == [k % 5 / 4 for k in range(11)]
    assert read(data, held_out=6) == material


def test_every_system_has_the_same_six_trials_of_equal_examples(tmp_path: Path) -> None:
    tried = trials(bounds(tmp_path))
    names = {system: [each.name for each in tried if each.system == system] for system in SYSTEMS}
    assert len(names) == 4 and len({tuple(several) for several in names.values()}) == 1
    assert all(len(set(several)) == len(several) == TRIALS for several in names.values())
    for each in tried:
        settings = each.settings
        assert (settings.max_steps, settings.evaluate_every) == (2, 1)
        assert settings.patience > settings.max_steps
        assert each.name == (
            f"learning_rate={settings.learning_rate:g},negatives={settings.loss.negatives}"
        )


def test_no_trial_is_asked_what_judges(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Job] = []

    def scored(jobs: list[Job], *_: object) -> list[Outcome]:
        seen.extend(jobs)
        return [Outcome([Look(0, 0, 0, 0, len(job.name))], {}, [], 0) for job in jobs]

    monkeypatch.setattr(charagram, "outcomes", scored)
    material = read(data, held_out=6)
    tuned(material, bounds(data))
    assert len(seen) == 4 * TRIALS
    assert all(not job.asked and job.watched is None for job in seen)
    assert all(job.valid == material.valid for job in seen)


def test_cells_are_those_of_the_paper() -> None:
    assert tuple("".join(map(str, orders)) for orders in CELL_ORDERS) == PAPER_ORDERS
    assert tuple(WIETING_CELLS) == CELL_MOST


def test_bags_of_table_5_keep_rare_ngrams_and_the_tuned_values(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Job] = []
    monkeypatch.setattr(charagram, "outcomes", lambda jobs, *_: seen.extend(jobs) or [])
    chosen = trials(bounds(data))[3]
    with pytest.raises(ValueError, match="shorter"):  # no outcomes to make rows of
        list(charagram.cells(read(data, held_out=6), chosen, bounds(data)))
    assert len(seen) == 15
    for job in seen:
        encoder: NgramBagSettings = job.settings.encoder
        assert (encoder.min_count, encoder.dim, job.settings.max_steps) == (1, 5, 1)
        assert job.settings.learning_rate == chosen.settings.learning_rate
        assert job.name == (
            f"ngram_bag/orders:{''.join(map(str, encoder.orders))}/most:{encoder.most}"
        )


def test_tiny_study(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charagram, "read", partial(read, held_out=6))
    small = {"dim_character": 4}
    narrow = {**small, "widths": (2,), "filters": (5,)}
    for system, values in (("char_lstm", small), ("convolution", narrow)):
        monkeypatch.setitem(SYSTEMS, system, SYSTEMS[system] | values)
    asked = (
        "--trial-examples 4 --examples 12 --cell-examples 4 --every 4 --batch 4 --dim 5 --seeds 2 "
        f"--processes 1 --kept {tmp_path / 'kept'}"
    )
    main(asked.split(), tmp_path)
    assert len(list((tmp_path / "kept").iterdir())) == 24 + 8 + 15
    rows = read_rows(tmp_path / "charagram.csv")
    assert unnamed(rows) == set()
    found = {(row["system"], row["test"], row["metric"], row["seed"]): row for row in rows}
    looks = {row["test"] for row in rows if row["test"].startswith("examples_")}
    assert looks == {f"examples_{count:07d}" for count in (0, 4, 8, 12)}
    for system in SYSTEMS:
        for test in looks:
            assert found[system, test, "spearman", "2"]["n"] == "11"
        assert found[system, "simlex/unlinked", "spearman", ""]["n"] == "7"
        assert found[system, "sts", "pearson", ""]["n"] == str(18 * 9)
        assert found[system, "sts2013/FNWN", "pearson", "1"]["n"] == "9"
    sets = [row for key, row in found.items() if key[0] == "ngram_bag" and key[1][:4] == "sts2"]
    pooled = [float(row["value"]) for row in sets if not row["seed"]]
    mean = float(found["ngram_bag", "sts", "pearson", ""]["value"])
    assert len(pooled) == 18 and mean == pytest.approx(sum(pooled) / 18, abs=2e-4)
    gain = float(found["ngram_bag-char_lstm", "sick", "gain_pearson", ""]["value"])
    first, other = (
        float(found[name, "sick", "pearson", ""]["value"]) for name in ("ngram_bag", "char_lstm")
    )
    assert gain == pytest.approx(first - other, abs=2e-4)
    assert found["ngram_bag/orders:23/most:100", "simlex", "spearman", "1"]
    assert found["data", "training", "pairs_in_training", ""]["value"] == "4"
    assert found["word_overlap", "sick", "pearson", ""]
    assert rows[0]["command"].endswith(
        "--trial-examples 4 --examples 12 --cell-examples 4 --every 4 --batch 4 --dim 5 --seeds 2"
    )
    text = page(tmp_path)
    for part in ("Table 1", "Table 3", "The bag of n-grams less", "Figure 1", "Table 5", "Trials"):
        assert f"### {part}" in text
    assert "word-pair training" in text
