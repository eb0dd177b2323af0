"""The study of attention on toy files: what is read, what trials see, thresholds, rows, page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import attention
from benchmarks.attention import (
    LEARNING_RATES,
    SYSTEMS,
    Bounds,
    hits,
    judged,
    main,
    threshold,
    trials,
    tuned,
)
from benchmarks.attention_data import DATASETS, read
from benchmarks.names import unnamed
from benchmarks.render import page
from benchmarks.results_file import read_rows
from benchmarks.tuning import TRIALS, Job, Outcome
from models.training import Look

WORDS = ("dog", "cat", "girl", "boy", "man", "band")
DEEDS = ("runs", "sits", "sings")
SENTENCES = [f"a {who} {deed}" for who in WORDS for deed in DEEDS]


COUNTS = {"train": 18, "valid": 12, "test": 15}
PLACES = {"train": (1, 2, 3), "valid": (5, 8, 9), "test": (4, 6, 7)}
"""How far behind a sentence the other one of its pair stands: no part has a pair of another."""


def pairs(part: str, count: int) -> list[tuple[str, str, int]]:
    """Each sentence and another, with a kind from 0 to 4."""
    others = [SENTENCES[(k + PLACES[part][k % 3]) % 18] for k in range(count)]
    return [(SENTENCES[k], other, 3 * k % 5) for k, other in enumerate(others)]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """18 training, 12 validation and 15 test pairs of each; one training pair is a test pair."""
    parts = {part: pairs(part, count) for part, count in COUNTS.items()}
    left, right, _ = parts["test"][3]
    parts["train"].append((f"{right}!", left.upper(), 2))
    head = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    quality = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
    for part, rows in parts.items():
        related = [f"{k}\t{a}\t{b}\t{1 + kind}\tN\n" for k, (a, b, kind) in enumerate(rows)]
        alike = [f"{int(kind > 1)}\t{k}\t{k}\t{a}\t{b}\n" for k, (a, b, kind) in enumerate(rows)]
        for dataset, text in (
            ("sick", head + "".join(related)),
            ("msrp", quality + "".join(alike)),
        ):
            _, files, folder = DATASETS[dataset]
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / files[part]).write_text(text, encoding="utf-8")
    monkeypatch.setenv("ROLECALL_DATA", str(tmp_path))
    monkeypatch.setattr(attention, "DIMS", (3, 4))
    return tmp_path


def bounds(folder: Path) -> Bounds:
    return Bounds(steps=2, every=1, patience=5, seeds=2, folder=folder, processes=1)


def test_training_pairs_that_are_test_pairs_are_left_out(data: Path) -> None:
    """Whichever way round, in whatever case; scores of 1 to 5 become 0 to 1."""
    parts = read("sick", data)
    assert (len(parts.train.left), len(parts.valid.left), len(parts.test.left)) == (18, 12, 15)
    assert parts.left_out == 1
    assert parts.train.scores == [3 * k % 5 / 4 for k in range(18)]


def test_every_system_has_the_same_six_trials(tmp_path: Path) -> None:
    tried = trials(bounds(tmp_path))
    by_system = {system: [each for each in tried if each.system == system] for system in SYSTEMS}
    names = {tuple(each.name for each in several) for several in by_system.values()}
    assert [len(several) for several in by_system.values()] == [TRIALS] * 4
    assert len(names) == 1 and len(set(names.pop())) == TRIALS
    for each in tried:
        settings = each.settings
        assert settings.learning_rate in LEARNING_RATES
        assert settings.seed == 1
        shape = {
            "pooling": settings.encoder.pooling,
            "bidirectional": settings.encoder.bidirectional,
        }
        assert shape == SYSTEMS[each.system]
        assert each.name == (
            f"learning_rate={settings.learning_rate:g},dim_unit={settings.encoder.dim_unit}"
        )


def test_no_trial_is_asked_a_test_pair(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Job] = []

    def scored(jobs: list[Job], *_: object) -> list[Outcome]:
        seen.extend(jobs)
        return [Outcome([Look(0, 0, 0, 0, len(seen))], {}, [], 0) for _ in jobs]

    monkeypatch.setattr(attention, "outcomes", scored)
    parts = read("sick", data)
    chosen, rows = tuned("sick", parts, bounds(data))
    assert len(seen) == 4 * TRIALS
    assert all(not job.asked and job.watched is None and job.valid == parts.valid for job in seen)
    assert {row["n"] for row in rows} == {12}
    assert set(chosen) == set(SYSTEMS)


@pytest.mark.parametrize(
    ("alike", "cut"),
    [
        ([False, True, False, True], 0.2),  # above 0.1: 3 of 4 right, and so above 0.5
        ([False, False, True, True], 0.4),
        ([True, True, True, True], 0.1),
        ([False, False, False, True], 0.6),
    ],
)
def test_threshold_by_hand(alike: list[bool], cut: float) -> None:
    """Similarities 0.1, 0.3, 0.5, 0.7: cuts 0.1 (all), 0.2, 0.4, 0.6; the lowest of the best."""
    similarity = np.array([0.1, 0.3, 0.5, 0.7])
    assert threshold(similarity, np.array(alike)) == pytest.approx(cut)
    order = [2, 0, 3, 1]
    assert threshold(similarity[order], np.array(alike)[order]) == pytest.approx(cut)


def test_the_threshold_comes_from_validation_pairs_alone(data: Path) -> None:
    """Validation answers say 0.5; by it 0.6 is a paraphrase, whatever suits the test pairs."""
    parts = read("msrp", data)
    valid = [0.4 + 0.2 * alike for alike in parts.valid.scores or []]
    made = Outcome([], {"valid": valid, "test": [0.6] * 15}, [], 0)
    alike = np.array(parts.test.scores) == 1
    np.testing.assert_array_equal(hits(made, parts), alike)
    accuracy = judged("msrp", [made], parts)["accuracy"]
    assert accuracy.values == pytest.approx([alike.mean()])


def test_tiny_study(data: Path, tmp_path: Path) -> None:
    """Both data sets; a second call takes what is kept, and writes the same file."""
    kept = tmp_path / "kept"
    asked = f"--steps 2 --every 1 --seeds 2 --lengths 2 3 --processes 1 --kept {kept}".split()
    main(asked, tmp_path)
    before = (tmp_path / "attention.csv").read_bytes()
    assert len(list(kept.iterdir())) == 2 * (24 + 8) + 8
    main(asked, tmp_path)
    assert (tmp_path / "attention.csv").read_bytes() == before
    rows = read_rows(tmp_path / "attention.csv")
    assert unnamed(rows) == set()
    found = {
        (row["dataset"], row["system"], row["metric"], row["seed"]): row
        for row in rows
        if row["test"] == "test"
    }
    for seed in ("1", "2", ""):
        gain = found["sick", "attentive_lstm-lstm", "gain_pearson", seed]
        both = [found["sick", system, "pearson", seed] for system in ("attentive_lstm", "lstm")]
        assert float(gain["value"]) == pytest.approx(
            float(both[0]["value"]) - float(both[1]["value"]), abs=2e-4
        )
    assert float(found["msrp", "majority", "accuracy", ""]["value"]) == pytest.approx(
        np.mean([kind > 1 for _, _, kind in pairs("test", 15)]), abs=1e-4
    )
    assert ("sick", "lstm/max_length:3", "pearson", "2") in found
    assert ("sick", "majority", "accuracy", "") not in found
    assert sum(row["metric"] == "chosen" and row["value"] == "1" for row in rows) == 8
    assert {row["command"].split(" --dataset ")[1] for row in rows} == {
        "sick --steps 2 --every 1 --patience 6 --seeds 2 --lengths 2 3",
        "msrp --steps 2 --every 1 --patience 6 --seeds 2",
    }
    text = page(tmp_path)
    for part in ("Table I beside", "what attention adds", "Table II", "each seed", "trials"):
        assert f"### sick: {part}" in text
    assert "### msrp: Table II" not in text
    assert " (chosen) |" in text
    assert "| attentive_lstm-lstm |  | pearson |" in text
