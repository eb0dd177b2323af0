"""The first paper's network on sentences: what is read, equal trials, a tiny run."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.__main__ import measure, parser
from benchmarks.pair_networks import gold_of
from benchmarks.results import read_rows
from benchmarks.studies.sentences.entailment import BAD_JUDGEMENT, read_entailment
from benchmarks.studies.sentences.measure import grids, read
from benchmarks.study import study
from benchmarks.tuning import TRIALS
from tasks.readers.rejected import RejectedRows
from tasks.scored.readers import semeval, sick

SENTENCES = [
    f"a {who} {deed}" for who in ("dog", "cat", "girl", "boy") for deed in ("runs", "sits", "sings")
]
JUDGED = ("NEUTRAL", "ENTAILMENT", "CONTRADICTION", "NEUTRAL")
FAR = {"train": (1, 2), "valid": (4, 6), "test": (3, 5)}
"""How far behind a sentence the other one of its pair stands: no part has a pair of another."""


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "sts/sick2014").mkdir(parents=True)
    head = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    for part, name in sick.FILES.items():
        rows = [
            f"{k}\t{one}\t{SENTENCES[(k + FAR[part][k % 2]) % 12]}\t{1 + k % 5}\t{JUDGED[k % 4]}\n"
            for k, one in enumerate(SENTENCES)
        ]
        (tmp_path / "sts/sick2014" / name).write_text(head + "".join(rows))
    for name, path in semeval.FILES.items():
        if name.endswith(".test"):
            rows = [
                f"{k % 6}\t{one}\t{SENTENCES[k - FAR['test'][k % 2]]}\n"
                for k, one in enumerate(SENTENCES[:7])
            ]
            file = tmp_path / "sts/semeval" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("".join(rows))
    monkeypatch.setenv("ROLECALL_DATA", str(tmp_path))
    return tmp_path


def test_two_scores_of_the_same_pairs(data: Path) -> None:
    """1 to 5 becomes 0 to 1, and so do the three judgements; the STS sets are asked of one."""
    related, asked = read("sick", data)
    follows, own = read("entailment", data)
    assert gold_of(related.train).tolist() == [k % 5 / 4 for k in range(12)]
    assert gold_of(follows.train).tolist() == [0.5, 1.0, 0.0, 0.5] * 3
    assert related.train.titles == follows.train.titles
    assert len(asked) == 1 + 18 and list(own) == ["test"]


def test_what_any_set_asks_is_not_trained_on(data: Path) -> None:
    """A pair of an STS set, the other way round, among SICK's training pairs."""
    path = data / "sts/semeval" / semeval.FILES["2012/OnWN.test"]
    path.write_text(path.read_text() + f"3\t{SENTENCES[1]}\t{SENTENCES[0]}!\n")
    learned, _ = read("sick", data)
    assert (len(learned.train), learned.left_out["train"]) == (11, 1)


def test_another_judgement_is_refused(data: Path) -> None:
    path = data / "sts/sick2014/SICK_train.txt"
    path.write_text(path.read_text().replace("ENTAILMENT\n", "MAYBE\n", 1))
    ledger = RejectedRows()
    assert len(read_entailment({"train": path}, ledger)) == 11
    assert [reason for _, _, reason, _ in ledger.refused] == [BAD_JUDGEMENT]


def test_every_system_has_the_same_six_trials() -> None:
    options = parser(study("sentences")).parse_args([])
    by_system = {grid.system: [one.name for one in grid.trials()] for grid in grids(options)}
    assert set(by_system) == set(study("sentences").face["encoders"])
    assert len({tuple(names) for names in by_system.values()}) == 1
    assert all(len(set(names)) == TRIALS for names in by_system.values())


def test_tiny_study(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    face = study("sentences").face
    monkeypatch.setitem(face, "tried", {"learning_rate": [0.01], "loss.similarity": ["cosine"]})
    small = {"layers": 1, "hidden": 3, "dim": 4, "dim_character": 3}
    encoders = {
        "recurrent": face["encoders"]["recurrent"] | small,
        "word_average": face["encoders"]["word_average"] | {"dim": 4},
    }
    monkeypatch.setitem(face, "encoders", encoders)
    kept = tmp_path / "kept"
    options = f"--trial-steps 2 --steps 2 --every 1 --seeds 2 --processes 1 --kept {kept}"
    measure(study("sentences"), options.split(), tmp_path)
    rows = read_rows(tmp_path / "sentences.csv")
    assert list(study("sentences").meanings(rows))
    figures = {
        (row["dataset"], row["system"], row["test"], row["metric"], row["seed"]) for row in rows
    }
    assert ("sick", "recurrent", "sts", "pearson", "") in figures
    assert ("sick", "recurrent-word_average", "test", "gain_pearson", "2") in figures
    assert ("entailment", "word_overlap", "test", "pearson", "") in figures
    assert ("entailment", "recurrent", "sts", "pearson", "") not in figures
