"""The artifact folder: what it holds, equal bytes, what it follows from, and what is refused."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import mlflow_import  # noqa: F401  before models.serving.pyfunc
import numpy as np
import polars as pl
import pytest
import tiny_run
from frames_of import aliases_of, write_exemplars, write_overrides
from tiny_run import change_params

from models.network.embedding import embed_titles
from models.network.kinds import load_model
from models.serving.package import FORMAT, read_featurizer, read_normalizer
from models.serving.prototypes import DIGIT
from models.serving.scores import ScoreRule
from models.text.titles import clean_title
from tasks.io.files import write_json
from tasks.io.frames import write_frame
from tasks.io.schemas import SPLIT_ALIASES
from tasks.release.model_package.folder import build_artifact
from tasks.release.model_package.run_files import HERE, MADE_BY, OVERRIDES_FILE, RunFiles
from tasks.release.model_package.runtime import write_checksums

pytestmark = pytest.mark.thorough

FILES = {
    *("settings.json", "featurizer.json", "encoder.json", "encoder.onnx", "index.npy"),
    *("weights.safetensors", "aliases.parquet", "occupations.parquet", "exemplars.parquet"),
    *("groups.parquet", "overrides.parquet", "qualifiers.csv", "abbreviations.csv", "SHA256SUMS"),
    *("titles.parquet", "words.parquet", "vocabulary.parquet"),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tiny_run.make_run(tmp_path / "run")


@pytest.fixture
def artifact(root: Path, tmp_path: Path) -> Path:
    build_artifact(RunFiles.below(root), tmp_path / "artifact")
    return tmp_path / "artifact"


def with_overrides(root: Path) -> RunFiles:
    """Return the files of a run whose mix learns from feedback."""
    assert RunFiles.below(root).overrides is None
    return replace(RunFiles.below(root), overrides=root / OVERRIDES_FILE)


def test_equal_files_give_equal_bytes(root: Path, artifact: Path, tmp_path: Path) -> None:
    assert {path.name for path in artifact.iterdir()} == FILES
    build_artifact(RunFiles.below(root), tmp_path / "again")
    for name in FILES:
        assert (artifact / name).read_bytes() == (tmp_path / "again" / name).read_bytes(), name


def test_all_aliases_as_they_are_written_cleaned_and_split(artifact: Path) -> None:
    """Those of the tests too, in the order of the taxonomy."""
    rows = tiny_run.aliases().select("occupation_id", "title", "split", "preferred").rows()
    titles = pl.read_parquet(artifact / "titles.parquet")["title"]
    assert titles.to_list() == sorted({clean_title(title) for _, title, *_ in rows})
    aliases = pl.read_parquet(artifact / "aliases.parquet")
    aliases = aliases.with_columns(title=titles.gather(aliases["title"]))
    columns = ("occupation_id", "title", "written", "language", "split", "preferred")
    assert aliases.select(columns).rows() == [
        (owner, clean_title(title), title, "en", *more) for owner, title, *more in rows
    ]
    occupations = pl.read_parquet(artifact / "occupations.parquet")
    assert occupations.drop("bias", "crosswalk_codes").equals(tiny_run.occupations())
    assert occupations["crosswalk_codes"].list.len().sum() == 0
    assert set(occupations["bias"]) == {0.0}
    assert read_normalizer(artifact).groups == {"7": "Craft workers"}


def test_titles_in_two_languages(root: Path, tmp_path: Path) -> None:
    german = [("nurse", "Krankenpfleger", True, "train"), ("nurse", "Nurse", False, "train")]
    aliases = tiny_run.aliases().vstack(aliases_of(german, "de"))
    write_frame(aliases, root / "data/split/aliases.parquet", SPLIT_ALIASES)
    build_artifact(RunFiles.below(root), tmp_path / "made")
    normalizer = read_normalizer(tmp_path / "made")
    for raw_title, language, expected in (
        ("krankenpfleger", "", ("Krankenpfleger", "Krankenpfleger", "de")),
        ("nurse", "", ("Nurse", "Nurse", "en")),
        ("nurse", "de", ("Krankenpfleger", "Nurse", "de")),
        ("baker", "de", ("Baker", "Baker", "en")),
    ):
        (answer,) = normalizer.predict([raw_title], language=language)
        found = answer.occupation_label, answer.matched_title, answer.matched_language
        assert found == expected
    (answer,) = normalizer.predict(["Krankenpfleger"], language="en")
    assert (answer.occupation_label, answer.matched_language) == ("Nurse", "de")
    assert answer.matched_title in ("Nurse", "Ward sister", "Nurse (night)")


@pytest.mark.parametrize(
    ("precision", "close", "which"),
    [("single", 1e-6, "weights"), ("byte", 0.02, "initial"), ("half_byte", 0.3, "weights")],
)
def test_it_is_read_as_the_normalizer_of_the_run(root, tmp_path, which, precision, close) -> None:
    """With the trained network or the untrained one; every embedding is of unit norm."""
    change_params(root, "evaluate", occupation_score="soft", soft_temperature=0.5)
    change_params(root, "register", top_k=4, precision=precision)
    build_artifact(RunFiles.below(root), tmp_path / "made", which)  # type: ignore[arg-type]
    normalizer = read_normalizer(tmp_path / "made")
    assert (normalizer.rule, normalizer.top_k) == (ScoreRule("soft", 0.5), 4)
    titles = sorted({clean_title(title) for title in tiny_run.aliases()["title"]})
    assert [*normalizer.index.titles] == titles
    featurizer, encoder = load_model(root / "data/train/typos/7/model", which)  # type: ignore[arg-type]
    expected = embed_titles(encoder, featurizer, titles).numpy()
    np.testing.assert_allclose(normalizer.embeddings[:], expected, atol=close)
    np.testing.assert_allclose(normalizer.network(titles), expected, atol=close)
    np.testing.assert_allclose(np.linalg.norm(normalizer.embeddings[:], axis=1), 1, atol=1e-5)


def test_floats_are_the_weights_of_the_run(root: Path, tmp_path: Path) -> None:
    """And `models.network.kinds` reads them, with the vocabulary in the network's file."""
    change_params(root, "register", precision="single")
    build_artifact(RunFiles.below(root), tmp_path / "made")
    featurizer = read_featurizer(tmp_path / "made")
    write_json(featurizer.values(), tmp_path / "made/featurizer.json")
    again, encoder = load_model(tmp_path / "made")
    expected = load_model(root / "data/train/typos/7/model")
    assert (again, encoder.settings) == (expected[0], expected[1].settings)
    titles = tiny_run.aliases()["cleaned"].to_list()
    for own, other in zip(featurizer(titles).streams, again(titles).streams, strict=True):
        assert (own.flat == other.flat).all() and (own.lengths == other.lengths).all()
    for name, weight in expected[1].state_dict().items():
        assert weight.equal(encoder.state_dict()[name])


def test_weights_stand_in_one_file(root: Path, artifact: Path, tmp_path: Path) -> None:
    """The graph holds no table: without the file beside it, it cannot be read."""
    change_params(root, "register", precision="single")
    build_artifact(RunFiles.below(root), tmp_path / "made")
    folders = (artifact, tmp_path / "made")
    small, large = ((folder / "index.npy").stat().st_size for folder in folders)
    assert large - small == 13 * 3 * load_model(root / "data/train/typos/7/model")[1].dim
    (artifact / "weights.safetensors").unlink()
    with pytest.raises(Exception, match=r"weights\.safetensors"):
        read_normalizer(artifact)


def test_the_hash_follows_what_is_served(root: Path) -> None:
    """Rule, number of answers, titles and weights; neither the registry's name nor the start."""
    before = RunFiles.below(root).artifact_hash()
    change_params(root, "register", name="other")
    change_params(root, "evaluate", run_depth=3)
    model, calibrated = (root / f"data/{kind}/typos/7" for kind in ("train", "calibrate"))
    (model / "model/initial.safetensors").write_bytes(b"another start")
    assert RunFiles.below(root).artifact_hash() == before
    (root / "crosswalk.csv").write_text("code,standard,other_code\nnurse,SOC,29\n")
    (root / "words.csv").write_text("kind,phrase\nseniority,senior\n")
    owl, aliases = [("night owl", "nurse", 1.0, "label")], tiny_run.aliases().reverse()
    registered = [{"top_k": 9}, {"precision": "single"}]
    registered += [{"crosswalk": "crosswalk.csv"}, {"qualifiers": "words.csv"}]
    changes: list[Callable[[], object]] = [
        lambda: change_params(root, "evaluate", soft_temperature=0.07),
        *(partial(change_params, root, "register", **values) for values in registered),
        lambda: write_exemplars(calibrated, exemplars=owl),
        lambda: write_exemplars(calibrated, prior=[("nurse", 0.5, 0.05)]),
        lambda: write_frame(aliases, root / "data/split/aliases.parquet", SPLIT_ALIASES),
        lambda: (model / "model/weights.safetensors").write_bytes(b"other weights"),
    ]
    hashes = {before}
    for change in changes:
        change()
        hashes.add(RunFiles.below(root).artifact_hash())
    write_overrides(root / OVERRIDES_FILE, [("night owl", "nurse")])
    hashes.add(with_overrides(root).artifact_hash())
    assert len(hashes) == len(changes) + 2


def test_the_hash_follows_the_code_that_builds_the_folder() -> None:
    """A patch is hashed by the tables that it changes, `run_files.py` by the settings it reads."""
    left_out = {"__init__.py", "patch.py", "run_files.py"}
    assert left_out == {file.name for file in HERE.glob("*.py")} - {*MADE_BY}
    assert all((HERE / name).is_file() for name in MADE_BY)


def test_the_trained_network_has_its_exemplars_and_the_untrained_none(root: Path, tmp_path) -> None:
    """An exemplar is found at once; answers have a confidence at every level."""
    calibration = {"temperature": 0.06, "offsets": [0.0] * 3, "slopes": [1.0] * 3}
    calibration |= {"ood_threshold": 1.0}
    prior = [("software", 0.5, 0.001)]
    exemplars = [("night owl", "nurse", 1.0, "label"), ("night owl", "gone", 1.0, "label")]
    write_overrides(root / OVERRIDES_FILE, [("Night shift", "nurse"), ("x", "nurse")])
    write_exemplars(root / "data/calibrate/typos/7", prior, exemplars, calibration)
    made = {}
    for which in ("weights", "initial"):
        build_artifact(with_overrides(root), tmp_path / which, which)  # type: ignore[arg-type]
        made[which] = read_normalizer(tmp_path / which)
    owl = made["weights"].predict(["Night owl"])[0]
    assert owl.occupation_id == "nurse" and owl.score > 1 - 1e-3 and owl.reason is None
    assert 0 < owl.confidence <= min(owl.code_confidences) <= 1 and len(owl.code_confidences) == 2
    known = made["weights"].occupations
    bias = dict(zip(known["occupation_id"], known["bias"], strict=True))
    assert bias["software"] == pytest.approx(0.001) and bias["baker"] == 0
    untrained = made["initial"]
    assert made["weights"].overrides["normalized"] == ["night shift", "x"]
    (shift,) = made["weights"].predict(["NIGHT  shift!"])
    assert (owl.answered_by, shift.answered_by) == ("label", "review")
    assert shift.occupation_id == "nurse" and untrained.overrides["normalized"] == []
    assert untrained.exemplars["title"] == [] and set(untrained.occupations["bias"]) == {0.0}
    assert untrained.predict(["coder"])[0].reason == "uncalibrated"


def test_a_folder_of_another_format_or_index_is_refused(artifact: Path) -> None:
    embeddings = np.load(artifact / "index.npy")
    np.save(artifact / "index.npy", embeddings[1:])
    write_checksums(artifact)
    with pytest.raises(ValueError, match=r"12 embeddings of 13 titles; register again"):
        read_normalizer(artifact)
    settings = json.loads((artifact / "settings.json").read_text(encoding="utf-8"))
    write_json(settings | {"format": FORMAT - 1}, artifact / "settings.json")
    write_checksums(artifact)
    with pytest.raises(ValueError, match="trained by an earlier version: run `rolecall retrain`"):
        read_normalizer(artifact)


def test_a_list_of_words_and_a_crosswalk_of_ones_own(root: Path, tmp_path: Path) -> None:
    (root / "crosswalk.csv").write_text("code,standard,other_code\nnurse,SOC,29-1141\n")
    (root / "words.csv").write_text("kind,phrase\nseniority,grand\n")
    change_params(root, "register", crosswalk="crosswalk.csv", qualifiers="words.csv")
    build_artifact(RunFiles.below(root), tmp_path / "from_labels")
    known = read_normalizer(tmp_path / "from_labels").occupations
    codes = dict(zip(known["occupation_id"], known["crosswalk_codes"], strict=True))
    assert {name for name, own in codes.items() if own} == {"nurse"}
    assert codes["nurse"] == ["SOC: 29-1141"]
    phrases = (tmp_path / "from_labels/qualifiers.csv").read_text(encoding="utf-8")
    assert phrases.startswith("kind,phrase\nseniority,grand\nlocation,")


def test_the_graph_of_the_prototypes_multiplies_exactly(root, tmp_path, monkeypatch) -> None:
    """Random digits, and the largest ones."""
    monkeypatch.setattr("tasks.release.model_package.prototypes.FEW", 2)
    change_params(root, "evaluate", occupation_score="soft", soft_temperature=0.5)
    build_artifact(RunFiles.below(root), tmp_path / "made")
    prototypes = read_normalizer(tmp_path / "made").prototypes
    assert prototypes is not None
    axes = prototypes.numbers.shape[0]
    digits = np.random.default_rng(1).integers(0, 256, (20, axes)).astype(np.uint8)
    digits[:2] = [[1], [255]]
    exact = (digits.astype(np.int64) - DIGIT) @ prototypes.numbers.astype(np.int64)
    sums = prototypes.product(digits)
    assert sums.dtype == np.int32 and (sums == exact).all()


def test_a_search_in_one_stage_has_no_prototypes(artifact: Path) -> None:
    assert read_normalizer(artifact).prototypes is None
    assert not [*artifact.glob("prototypes*")]
