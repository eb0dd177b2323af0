"""The stage `similarity_train`: settings, pairs to train on, whole outputs or none, kills, keys."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any, NoReturn

import polars as pl
import pytest
from params_of import write_params

from models.network.kinds import kind_of, load_model
from models.training.loop import TrainSettings
from models.training.scored_run import ScoredRun, pair_similarities
from tasks.evaluation.metric_tables import read_table
from tasks.io.frames import read_frame, write_frame
from tasks.io.schemas import HISTORY
from tasks.io.section import ParamsError, load
from tasks.papers.similarity import scored_pairs, similarity_code, similarity_train
from tasks.papers.similarity.pair_files import (
    PARAPHRASE_PARTS,
    PARAPHRASED,
    PARAPHRASES,
    SCORED_PAIRS,
)
from tasks.papers.similarity.similarity_train import (
    SimilarityParams,
    system_settings,
    training_pairs,
)
from tasks.pipeline.train import NetworkParams

ROOT = Path(__file__).parents[4]
Pair = tuple[str, str, str, str, float]


def loaded(folder: Path, **similarity: Any) -> tuple[NetworkParams, SimilarityParams]:
    """Load the defaults with values of section `similarity` changed."""
    write_params(folder, similarity=similarity)
    path = folder / "params.yaml"
    return NetworkParams.read(path), load(SimilarityParams, path)


def settings_of(folder: Path, **system: Any) -> TrainSettings:
    """Return those of `lstm`, changed."""
    systems = write_params(folder)["similarity"]["systems"]
    systems["lstm"] |= system
    return system_settings(*loaded(folder, systems=systems), "lstm", 1)


def test_every_default_system_has_settings(tmp_path: Path) -> None:
    """A version that titles are to be compatible with is none of a system's."""
    network, params = loaded(tmp_path)
    earlier = network.train.model_copy(update={"compatible_with": "models:/rolecall/1"})
    for name, system in params.systems.items():
        settings = system_settings(network, params, name, 7)
        assert settings.seed == 7
        assert kind_of(settings.encoder) == system.encoder["kind"]
        assert kind_of(settings.loss) == system.loss["kind"]
        assert system_settings(network._replace(train=earlier), params, name, 7) == settings


@pytest.mark.thorough
def test_what_a_system_does_not_name_is_the_sections(tmp_path: Path) -> None:
    network, _ = loaded(tmp_path)
    base = network.encoders["attentive"]
    encoder = {"kind": "attentive", "unit": "word", "hidden": 3}
    loss = {"kind": "regression", "similarity": "cosine"}
    settings = settings_of(tmp_path, encoder=encoder, loss=loss, train={"max_steps": 5})
    assert (settings.encoder.unit, settings.encoder.hidden) == ("word", 3)
    assert settings.encoder.dim_unit == base["dim_unit"]
    assert settings.loss.similarity == "cosine"
    assert settings.max_steps == 5
    assert settings.clip_norm == network.train.clip_norm
    assert base["unit"] == "character"  # the section itself is as it was


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("system", "words"),
    [
        ({"encoder": {"unit": "word"}}, ["systems.lstm: encoder names no kind"]),
        ({"encoder": {"kind": "transformer"}}, ["lstm.encoder.kind = 'transformer'", "choose"]),
        ({"encoder": {"kind": "attentive", "hiden": 3}}, ["systems.lstm", "hiden", "unknown"]),
        ({"loss": {"kind": "frozen_margin"}}, ["systems.lstm", "compatible_with"]),
        ({"train": {"max_steps": -1}}, ["systems.lstm.train.max_steps = -1", "greater"]),
        ({"train": {"loss": {"kind": "margin"}}}, ["lstm.train", "'loss'", "take them out"]),
    ],
)
def test_what_cannot_work_is_refused(tmp_path, system, words) -> None:
    with pytest.raises(ParamsError) as error:
        settings_of(tmp_path, **system)
    assert all(word in str(error.value) for word in words), str(error.value)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": [1, 1]}, r"seeds \[1, 1\]: the same one twice trains it twice"),
        ({"seeds": []}, r"similarity\.seeds = \[\].*at least 1"),
        ({"systems": {}}, r"similarity\.systems = \{\}.*at least 1"),
        ({"systems": {"Bag of words": {}}}, r"similarity\.systems\.Bag of words.*match pattern"),
        ({}, "no 'gru'; choose attentive_lstm, lstm, ngram_bag"),
    ],
)
def test_systems_and_seeds(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    """A system's name is that of a folder."""
    with pytest.raises(ParamsError, match=message):
        system_settings(*loaded(tmp_path, **changes), "gru", 1)


def frame(*rows: Pair) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=dict(SCORED_PAIRS), orient="row")


def links(*rows: tuple[str, str, str]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=dict(PARAPHRASE_PARTS), orient="row")


def test_a_test_pair_of_any_set_is_left_out_and_counted() -> None:
    """Turn MSRP's second pair round into STS 2012's test pair; its valid one is SICK's."""
    pairs = frame(
        ("msrp", "train", "One cat.", "A dog", 1.0),
        ("msrp", "train", "The shares fell", "Shares FELL!", 0.0),
        ("msrp", "valid", "a man", "a woman", 1.0),
        ("msrp", "valid", "a man", "a child", 0.0),
        ("msrp", "test", "one", "two", 0.0),
        ("sts2012/MSRpar", "test", "shares fell", "the shares fell", 3.0),
        ("sts2012/MSRpar", "train", "one cat", "a dog", 3.0),
        ("sick", "test", "A man", "A woman", 2.0),
    )
    chosen = training_pairs(pairs, links(), "msrp")
    assert chosen.train.titles == ["one cat.", "a dog"]
    assert chosen.train.scores is not None and chosen.train.scores.tolist() == [1.0]
    assert chosen.valid.titles == ["a man", "a child"]
    assert chosen.left_out == {"train": 1, "valid": 1}


def test_paraphrases_have_no_scores_and_follow_the_same_rule() -> None:
    own = links(("train", "big", "large"), ("train", "big", "huge"), ("valid", "small", "tiny"))
    chosen = training_pairs(frame(("simlex", "test", "large", "big", 9.5)), own, PARAPHRASED)
    assert chosen.train.titles == ["big", "huge"] and chosen.train.scores is None
    assert chosen.valid.titles == ["small", "tiny"] and chosen.valid.scores is None
    assert chosen.left_out == {"train": 1, "valid": 0}


@pytest.mark.parametrize("trained_on", ["simlex", "sik", "test"])
def test_a_set_without_a_part_to_train_on_is_refused(trained_on: str) -> None:
    pairs = frame(("sick", "train", "a", "b", 2.0), ("simlex", "test", "a", "b", 2.0))
    with pytest.raises(ValueError, match="has no part train; choose sick, paraphrases"):
        training_pairs(pairs, links(), trained_on)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which `scored_pairs` has run on the sample."""
    monkeypatch.chdir(tmp_path)
    sample = {"folder": str(ROOT / "data/sample"), "valid_paraphrases": 20}
    systems = write_params(scored_pairs=sample)["similarity"]["systems"]
    systems["lstm"]["encoder"] |= {"dim_unit": 6, "hidden": 4}
    systems["ngram_bag"]["encoder"]["dim"] = 6
    for system in systems.values():
        system["train"] |= {"max_steps": 6, "evaluate_every": 2}
    write_params(similarity={"systems": systems})
    scored_pairs.main()
    for name in systems:
        monkeypatch.setattr(sys, "argv", ["", "--name", name])
        similarity_code.main()
    return tmp_path


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
def test_what_it_writes(here, monkeypatch, name, pairs, left_out) -> None:
    """doctor–physician, nurse–nursing and cook–chef are scored words and paraphrases both."""
    out = run_stage(monkeypatch, name)
    model = ("encoder.json", "featurizer.json", "weights.safetensors", "initial.safetensors")
    assert set(contents(out)) == {"history.csv", "metrics.json", *(f"model/{f}" for f in model)}
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
def test_a_killed_run_leaves_nothing_and_goes_on_to_the_same_bytes(here, monkeypatch) -> None:
    """A folder a seed, with the bytes that the seed alone gives, in any order of seeds.

    The run is killed in its second seed: the first stands, and the second resumes.
    """
    trained = {}
    for seed in (1, 2):
        write_params(similarity={"seeds": [seed]})
        trained[str(seed)] = contents(run_stage(monkeypatch, "lstm", seed))
    assert trained["1"] != trained["2"]
    out = here / "data/similarity_train/lstm"
    shutil.rmtree(out)
    write_params(similarity={"seeds": [2, 1]})

    class Killed(BaseException):
        pass

    steps = ScoredRun.step
    seen: list[int] = []

    def killed(run: ScoredRun, step: int) -> Any:
        if (run.settings.seed, step) == (1, 5):
            raise Killed
        return steps(run, step)

    def watched(run: ScoredRun, step: int) -> Any:
        if run.settings.seed == 1:
            seen.append(step)
        return steps(run, step)

    monkeypatch.setattr(ScoredRun, "step", killed)
    with pytest.raises(Killed):
        run_stage(monkeypatch, "lstm")
    assert contents(out / "1") == {}
    assert contents(out / "2") == trained["2"]
    assert len(list(Path(".checkpoints").iterdir())) == 1
    monkeypatch.setattr(ScoredRun, "step", watched)
    run_stage(monkeypatch, "lstm")
    assert {folder.name: contents(folder) for folder in out.iterdir()} == trained
    assert seen == [4, 5]


@pytest.mark.thorough
def test_other_data_or_code_do_not_resume(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each system, value, file of pairs and hash of code has checkpoints of its own."""
    systems = write_params()["similarity"]["systems"]
    kept: list[str] = []

    def stop(run: object, checkpoints: Any) -> NoReturn:
        kept.append(checkpoints.path.name)
        raise KeyboardInterrupt

    def key_of(name: str) -> str:
        with pytest.raises(KeyboardInterrupt):
            run_stage(monkeypatch, name)
        return kept[-1]

    monkeypatch.setattr(similarity_train, "train", stop)
    keys = [key_of("lstm"), key_of("ngram_bag")]
    systems["ngram_bag"]["encoder"]["dim"] = 7
    write_params(similarity={"systems": systems})
    keys.append(key_of("ngram_bag"))
    for file in ("data/scored_pairs/pairs.parquet", "data/scored_pairs/paraphrases.parquet"):
        Path(file).write_bytes(Path(file).read_bytes())
    assert key_of("ngram_bag") == keys[-1]
    reversed_links = read_frame(PARAPHRASES, PARAPHRASE_PARTS).reverse()
    write_frame(reversed_links, PARAPHRASES, PARAPHRASE_PARTS)
    keys.append(key_of("ngram_bag"))
    listing = Path("data/similarity_code/ngram_bag.json")
    listing.write_text(listing.read_text().replace('"models/', '"models/ ', 1))
    keys.append(key_of("ngram_bag"))
    assert len(set(keys)) == len(keys) == 5
