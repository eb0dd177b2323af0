"""The stage `similarity_train` in a working directory: outputs whole or not at all, kills, keys."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest
import yaml

from models.model_files import load_model
from models.scored_run import ScoredRun, pair_similarities
from tasks import scored_pairs, similarity_train
from tasks.params import ParamsError
from tasks.similarity_train import HISTORY
from tasks.tables import read_table

ROOT = Path(__file__).parents[2]
SMALL = {"encoder": {"dim_unit": 6, "hidden": 4}, "train": {"max_steps": 6, "evaluate_every": 2}}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which `scored_pairs` has run on the sample."""
    monkeypatch.chdir(tmp_path)
    params = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    files = {k: str(ROOT / v) for k, v in params["scored_pairs"]["files"].items()}
    params["scored_pairs"] |= {"files": files, "valid_paraphrases": 20}
    systems = params["similarity"]["systems"]
    systems["lstm"]["encoder"] |= SMALL["encoder"]
    systems["ngram_bag"]["encoder"]["dim"] = 6
    for system in systems.values():
        system["train"] |= SMALL["train"]
    Path("params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    scored_pairs.main()
    return tmp_path


def run_stage(monkeypatch: pytest.MonkeyPatch, name: str, seed: int = 1) -> Path:
    monkeypatch.setattr(sys, "argv", ["", "--name", name, "--seed", str(seed)])
    similarity_train.main()
    return Path("data/similarity_train") / name / str(seed)


def contents(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


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


def test_a_killed_run_leaves_nothing_and_goes_on_to_the_same_bytes(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = contents(run_stage(monkeypatch, "lstm"))

    class Killed(BaseException):
        pass

    steps = ScoredRun.step

    def killed(run: ScoredRun, step: int) -> Any:
        if step == 5:
            raise Killed
        return steps(run, step)

    out = here / "data/similarity_train/lstm/1"
    for path in sorted(out.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    monkeypatch.setattr(ScoredRun, "step", killed)
    with pytest.raises(Killed):
        run_stage(monkeypatch, "lstm")
    assert contents(out) == {}
    assert len(list(Path(".checkpoints").iterdir())) == 1
    seen: list[int] = []

    def watched(run: ScoredRun, step: int) -> Any:
        seen.append(step)
        return steps(run, step)

    monkeypatch.setattr(ScoredRun, "step", watched)
    assert contents(run_stage(monkeypatch, "lstm")) == whole
    assert seen == [4, 5]


def test_other_data_do_not_resume(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two systems of equal settings, on different pairs, have checkpoints of their own."""
    params = yaml.safe_load(Path("params.yaml").read_text())
    kept: list[str] = []

    def stop(run: object, checkpoints: Any, say: object) -> NoReturn:
        kept.append(checkpoints.path.name)
        raise KeyboardInterrupt

    monkeypatch.setattr(similarity_train, "train", stop)
    systems = params["similarity"]["systems"]
    for name, changes in (("lstm", {}), ("ngram_bag", {}), ("ngram_bag", {"dim": 7})):
        systems[name]["encoder"] |= changes
        Path("params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
        with pytest.raises(KeyboardInterrupt):
            run_stage(monkeypatch, name)
    scored_pairs_file = Path("data/scored_pairs/paraphrases.parquet")
    scored_pairs_file.write_bytes(scored_pairs_file.read_bytes())
    with pytest.raises(KeyboardInterrupt):
        run_stage(monkeypatch, "ngram_bag")
    assert len(set(kept)) == 3
    assert kept[-1] == kept[-2]


def test_an_unknown_system_is_refused(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParamsError, match=r"similarity\.systems has no 'gru'"):
        run_stage(monkeypatch, "gru")
