"""The study of attention on toy files: what is read, settings, thresholds, rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.__main__ import measure, parser
from benchmarks.networks.pair_networks import PairNetwork, PairNetworks, gold_of
from benchmarks.networks.runner import Job
from benchmarks.results import read_rows, read_runs
from benchmarks.studies.attention.measure import PUBLISHED, judged, read, systems
from benchmarks.study import study

WORDS = ("dog", "cat", "girl", "boy", "man", "band")
DEEDS = ("runs", "sits", "sings")
SENTENCES = [f"a {who} {deed}" for who in WORDS for deed in DEEDS]


COUNTS = {"train": 18, "valid": 12, "test": 15}
PLACES = {"train": (1, 2, 3), "valid": (5, 8, 9), "test": (4, 6, 7)}
"""How far behind a sentence the other one of its pair stands: no part has a pair of another."""


def pairs(split: str, count: int) -> list[tuple[str, str, int]]:
    """Each sentence and another, with a kind from 0 to 4."""
    others = [SENTENCES[(k + PLACES[split][k % 3]) % 18] for k in range(count)]
    return [(SENTENCES[k], other, 3 * k % 5) for k, other in enumerate(others)]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """18 training, 12 validation and 15 test pairs of each; one training pair is a test pair."""
    parts = {split: pairs(split, count) for split, count in COUNTS.items()}
    left, right, _ = parts["test"][3]
    parts["train"].append((f"{right}!", left.upper(), 2))
    head = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    quality = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
    for split, rows in parts.items():
        related = [f"{k}\t{a}\t{b}\t{1 + kind}\tN\n" for k, (a, b, kind) in enumerate(rows)]
        alike = [f"{int(kind > 1)}\t{k}\t{k}\t{a}\t{b}\n" for k, (a, b, kind) in enumerate(rows)]
        for dataset, text in (
            ("sick", head + "".join(related)),
            ("msrp", quality + "".join(alike)),
        ):
            publisher, folder = PUBLISHED[dataset]
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / publisher.files[split]).write_text(text, encoding="utf-8")
    monkeypatch.setenv("ROLECALL_DATA", str(tmp_path))
    return tmp_path


def test_training_pairs_that_are_test_pairs_are_left_out(data: Path) -> None:
    """Whichever way round, in whatever case; scores of 1 to 5 become 0 to 1."""
    parts = read("sick", data)
    assert (len(parts.train), len(parts.valid), len(parts.test)) == (18, 12, 15)
    assert gold_of(parts.train).tolist() == [3 * k % 5 / 4 for k in range(18)]


@pytest.mark.parametrize("dataset", ["sick", "msrp"])
def test_every_system_has_its_shape_and_its_tuned_values(dataset: str) -> None:
    options = parser(study("attention")).parse_args(["--steps", "2"])
    config, made = study("attention").config, systems(dataset, options)
    assert list(made) == list(config["encoders"])
    for system, own in made.items():
        assert (own.seed, own.max_steps, own.patience) == (1, 2, 6)
        shape = config["encoders"][system]
        assert {name: getattr(own.encoder, name) for name in shape} == shape
        tuned = config["tuned"][dataset][system]
        assert own.learning_rate == tuned["learning_rate"]
        assert own.encoder.dim_unit == tuned["encoder.dim_unit"]


def test_the_threshold_comes_from_validation_pairs_alone(data: Path) -> None:
    """Validation answers say 0.5; by it 0.6 is a paraphrase, whatever suits the test pairs."""
    parts = read("msrp", data)
    valid = [0.4 + 0.2 * alike for alike in gold_of(parts.valid)]
    made = PairNetwork([], {"valid": valid, "test": [0.6] * 15}, [])
    accuracy = judged("msrp", [made], parts)["test", "accuracy"]
    assert accuracy.measured.value == pytest.approx((gold_of(parts.test) == 1).mean())


def test_tiny_study(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both data sets; a second call takes what is kept."""
    seen: list[str] = []
    train = PairNetworks._trained

    def noted(networks: PairNetworks, job: Job) -> PairNetwork:
        seen.append(job.name)
        return train(networks, job)

    monkeypatch.setattr(PairNetworks, "_trained", noted)
    small = {"learning_rate": 0.01, "encoder.dim_unit": 3}
    tuned = dict.fromkeys(study("attention").config["encoders"], small)
    monkeypatch.setitem(study("attention").config, "tuned", {"sick": tuned, "msrp": tuned})
    kept = tmp_path / "kept"
    options = (
        f"--steps 2 --every 1 --seeds 2 --processes 1 --kept {kept} --results {tmp_path}".split()
    )
    measure(study("attention"), options)
    before = (tmp_path / "attention.csv").read_bytes()
    assert len(list(kept.iterdir())) == len(seen) == 2 * 4 * 2
    measure(study("attention"), options)
    assert (tmp_path / "attention.csv").read_bytes() == before
    assert len(seen) == 16
    rows = read_rows(tmp_path / "attention.csv")
    figures = {
        (row["dataset"], row["system"], row["metric"], row["seed"]): row
        for row in rows
        if row["test"] == "test"
    }
    for seed in ("1", "2", ""):
        gain = figures["sick", "attentive_lstm-lstm", "gain_pearson", seed]
        both = [figures["sick", system, "pearson", seed] for system in ("attentive_lstm", "lstm")]
        assert float(gain["value"]) == pytest.approx(
            float(both[0]["value"]) - float(both[1]["value"]), abs=2e-4
        )
    assert float(figures["msrp", "majority", "accuracy", ""]["value"]) == pytest.approx(
        np.mean([kind > 1 for _, _, kind in pairs("test", 15)]), abs=1e-4
    )
    assert ("sick", "majority", "accuracy", "") not in figures
    assert {run["command"].split(" --dataset ")[1] for run in read_runs(tmp_path).values()} == {
        f"{dataset} --steps 2 --every 1 --patience 6 --seeds 2" for dataset in ("sick", "msrp")
    }
