"""The stage `similarity_train` in a working directory: outputs whole or not at all, kills, keys."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest
import yaml

from models.network.model_files import load_model
from models.training.scored_run import ScoredRun, pair_similarities
from tasks.evaluation.metric_tables import read_table
from tasks.io.frames import read_frame, write_frame
from tasks.io.schemas import HISTORY
from tasks.papers.similarity import scored_pairs, similarity_code, similarity_train
from tasks.papers.similarity.pair_files import PARAPHRASE_PARTS, PARAPHRASES

ROOT = Path(__file__).parents[4]
SMALL = {"encoder": {"dim_unit": 6, "hidden": 4}, "train": {"max_steps": 6, "evaluate_every": 2}}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which `scored_pairs` has run on the sample."""
    monkeypatch.chdir(tmp_path)
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    sample = str(ROOT / "data/sample")
    params["scored_pairs"] |= {"folder": sample, "valid_paraphrases": 20}
    systems = params["similarity"]["systems"]
    systems["lstm"]["encoder"] |= SMALL["encoder"]
    systems["ngram_bag"]["encoder"]["dim"] = 6
    for system in systems.values():
        system["train"] |= SMALL["train"]
    Path("params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    scored_pairs.main()
    for name in systems:
        monkeypatch.setattr(sys, "argv", ["", "--name", name])
        similarity_code.main()
    return tmp_path


def set_seeds(*seeds: int) -> None:
    params = yaml.safe_load(Path("params.yaml").read_text(encoding="utf-8"))
    params["similarity"]["seeds"] = list(seeds)
    Path("params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")


def run_stage(monkeypatch: pytest.MonkeyPatch, name: str, seed: int = 1) -> Path:
    """Return what it wrote of one seed."""
    monkeypatch.setattr(sys, "argv", ["", "--name", name])
    similarity_train.main()
    return Path("data/similarity_train") / name / str(seed)


def contents(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "pairs", "left_out"), [("lstm", (50, 12), (0, 0)), ("ngram_bag", (140, 20), (3, 0))]
)
def test_what_it_writes(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    pairs: tuple[int, int],
    left_out: tuple[int, int],
) -> None:
    """doctor–physician, nurse–nursing and cook–chef are scored words and paraphrases both."""
    out = run_stage(monkeypatch, name)
    assert set(contents(out)) == {
        "history.csv",
        "metrics.json",
        *(f"model/{file}" for file in ("encoder.json", "featurizer.json")),
        *(f"model/{file}.safetensors" for file in ("weights", "initial")),
    }
    history = read_table(out / "history.csv", HISTORY)
    assert history["step"].to_list() == [0, 2, 4, 6]
    counts = json.loads((out / "metrics.json").read_text())
    assert tuple(counts["pairs"].values()) == pairs
    assert tuple(counts["left_out"].values()) == left_out
    assert counts["steps"] == 6
    assert counts["valid_score"] == max(history["valid_score"])
    featurizer, encoder = load_model(out / "model")
    assert len(pair_similarities(encoder, featurizer, ["a cook"], ["a chef"], "cosine")) == 1
    assert not list(Path(".checkpoints").iterdir())


@pytest.mark.thorough
def test_all_seeds_are_trained_and_their_order_changes_nothing(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder a seed, with the bytes that the seed alone gives."""
    trained = {}
    for seed in (1, 2):
        set_seeds(seed)
        trained[seed] = contents(run_stage(monkeypatch, "lstm", seed))
    assert trained[1] != trained[2]
    shutil.rmtree("data/similarity_train")
    set_seeds(2, 1)
    run_stage(monkeypatch, "lstm")
    out = Path("data/similarity_train/lstm")
    assert {path.name for path in out.iterdir()} == {"1", "2"}
    assert {seed: contents(out / str(seed)) for seed in (1, 2)} == trained


@pytest.mark.thorough
def test_a_killed_run_leaves_nothing_and_goes_on_to_the_same_bytes(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed in its second seed: the first stands, and the second resumes."""
    set_seeds(2, 1)
    whole = contents(run_stage(monkeypatch, "lstm"))

    class Killed(BaseException):
        pass

    steps = ScoredRun.step

    def killed(run: ScoredRun, step: int) -> Any:
        if (run.settings.seed, step) == (1, 5):
            raise Killed
        return steps(run, step)

    first, out = (here / "data/similarity_train/lstm" / seed for seed in "21")
    shutil.rmtree(out.parent)
    monkeypatch.setattr(ScoredRun, "step", killed)
    with pytest.raises(Killed):
        run_stage(monkeypatch, "lstm")
    assert contents(out) == {}
    assert "history.csv" in contents(first)
    assert len(list(Path(".checkpoints").iterdir())) == 1
    seen: list[int] = []

    def watched(run: ScoredRun, step: int) -> Any:
        if run.settings.seed == 1:
            seen.append(step)
        return steps(run, step)

    monkeypatch.setattr(ScoredRun, "step", watched)
    assert contents(run_stage(monkeypatch, "lstm")) == whole
    assert seen == [4, 5]


@pytest.mark.thorough
def test_other_data_or_code_do_not_resume(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each system, value, file of pairs and hash of code has checkpoints of its own."""
    params = yaml.safe_load(Path("params.yaml").read_text())
    kept: list[str] = []

    def stop(run: object, checkpoints: Any) -> NoReturn:
        kept.append(checkpoints.path.name)
        raise KeyboardInterrupt

    def key_of(name: str) -> str:
        with pytest.raises(KeyboardInterrupt):
            run_stage(monkeypatch, name)
        return kept[-1]

    monkeypatch.setattr(similarity_train, "train", stop)
    systems = params["similarity"]["systems"]
    keys = [key_of("lstm"), key_of("ngram_bag")]
    systems["ngram_bag"]["encoder"]["dim"] = 7
    Path("params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    keys.append(key_of("ngram_bag"))
    for file in ("data/scored_pairs/pairs.parquet", "data/scored_pairs/paraphrases.parquet"):
        Path(file).write_bytes(Path(file).read_bytes())
    assert key_of("ngram_bag") == keys[-1]
    frame = read_frame(PARAPHRASES, PARAPHRASE_PARTS)
    write_frame(frame.reverse(), PARAPHRASES, PARAPHRASE_PARTS)
    keys.append(key_of("ngram_bag"))
    listing = Path("data/similarity_code/ngram_bag.json")
    listing.write_text(listing.read_text().replace('"models/', '"models/ ', 1))
    keys.append(key_of("ngram_bag"))
    assert len(set(keys)) == len(keys) == 5
