"""`params.yaml`: what is refused, and whether the message says what to change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tasks import check_params as whole
from tasks.check_params import check_params, load_params
from tasks.io.mixes import MIXES
from tasks.io.section import ParamsError
from tasks.pipeline.train.network_params import training_settings

DEFAULT = Path(__file__).parents[2] / "params.yaml"
Load = Callable[[dict[str, Any]], Any]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Load the defaults with changes; a key is a dotted path, `None` takes a parameter away."""

    def with_changes(changes: dict[str, Any]) -> Any:
        values = yaml.safe_load(DEFAULT.read_text(encoding="utf-8"))
        for name, value in changes.items():
            *above, last = name.split(".")
            section = values
            for split in above:
                section = section[split]
            if value is None:
                del section[last]
            else:
                section[last] = value
        (tmp_path / "params.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
        return load_params(tmp_path / "params.yaml")

    return with_changes


def test_the_defaults_are_valid_and_reach_the_training_loop() -> None:
    params = load_params(DEFAULT)
    check_params(params)
    settings = training_settings(params.network, params.seeds[0])
    assert settings.seed == params.seeds[0]
    assert settings.encoder.dim == params.encoders[params.train.encoder.kind]["dim"]
    assert settings.loss.temperature == params.losses[params.train.loss.kind]["temperature"]
    assert settings.batch_pairs == params.train.batch_pairs


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"train.margn": 1}, ["train.margn", "unknown parameter", "spelling"]),
        ({"surprise": 1}, ["surprise", "unknown parameter"]),
        ({"threads": "0"}, ["threads", "OMP_NUM_THREADS="]),
        (
            {"losses.contrastive.margin": 3},
            ["losses.contrastive", "margin = 3", "between -1 and 1"],
        ),
        (
            {"losses.contrastive.margin": "0.3"},
            ["losses.contrastive.margin = '0.3'", "valid number"],
        ),
        ({"losses.contrastive.margin": None}, ["losses.contrastive.margin", "missing", "put it"]),
        ({"losses.contrastive.more": 1}, ["losses.contrastive.more", "unknown", "spelling"]),
        ({"losses.best": {}}, ["losses.best", "no kind 'best'; choose contrastive"]),
        ({"encoders.best": {}}, ["encoders.best", "no kind 'best'; choose attentive"]),
        ({"train.loss.kind": "best"}, ["train.loss.kind = 'best'", "no section", "contrastive"]),
        (
            {"train.encoder.kind": "best"},
            ["train.encoder.kind = 'best'", "no section", "convolution"],
        ),
        ({"train.encoder.kind": "../x"}, ["train.encoder.kind = '../x'", "pattern"]),
        ({"train.compatible_with": "champion"}, ["train.compatible_with = 'champion'", "pattern"]),
        (
            {"train.compatible_with": "models:/rolecall/3"},
            ["train.compatible_with = 'models:/rolecall/3'", "info_nce: name", "exactly if"],
        ),
        (
            {"train.loss.kind": "frozen_margin"},
            ["train.compatible_with = ''", "frozen_margin: name", "exactly if"],
        ),
        ({"pairs.shares.typo": 1.0}, ["pairs.shares.typo = 1.0", "less than 1"]),
        (
            {"pairs.shares.synonyms": 0.1, "pairs.shares.typo": None},
            ["pairs", "'synonym', 'typo']; check ['synonyms', 'typo']"],
        ),
        (
            {"pairs.contradicted_pairs": "maybe"},
            ["pairs.contradicted_pairs = 'maybe'", "'dropped' or 'kept'"],
        ),
        (
            {"split.annotations_share": 0.8, "split.gate_share": 0.2},
            ["split", "= 1.1", "lower them to 1 or less"],
        ),
        (
            {"typos.substituted": 0.8, "typos.deleted": 0.3},
            ["typos", "substituted + deleted = 1.1", "lower them"],
        ),
        ({"typos.substituted": 1.2}, ["typos.substituted = 1.2", "less than or equal to 1"]),
        (
            {"ingest.taxonomy.files.aliases": "/elsewhere/aliases.csv"},
            ["ingest", "/elsewhere/aliases.csv is not below ingest.folder = data/sample"],
        ),
        (
            {"ingest.inputs.file": "../inputs.csv"},
            ["ingest", "../inputs.csv is not below ingest.folder = data/sample", "watches"],
        ),
        ({"ingest.sources": ["a"]}, ["ingest.sources", "unknown", "spelling"]),
        (
            {"ingest.taxonomy.reader": "csv"},
            [
                "ingest.taxonomy.reader",
                "'csv' is no reader of",
                "choose esco, esco_parquet, onet, sample, table",
            ],
        ),
        (
            {"scored_pairs.files.words": "../words.csv"},
            ["scored_pairs", "../words.csv is not below scored_pairs.folder = data/sample"],
        ),
        (
            {
                "train.loss.kind": "contrastive",
                "pairs.dissimilar_per_similar": 0,
                "losses.contrastive.negatives": "pairs",
            },
            ["losses.contrastive", "dissimilar_per_similar is 0", "choose other negatives"],
        ),
        ({"train.batch_pairs": "many"}, ["train.batch_pairs = 'many'", "valid integer"]),
        ({"train.max_steps": 1.5}, ["train.max_steps = 1.5", "integer"]),
        (
            {"encoders.recurrent.mode": "slow"},
            ["encoders.recurrent.mode = 'slow'", "'paper' or 'fast'"],
        ),
        ({"mix": 2}, ["mix = 2", "valid string"]),
        ({"mix": "5"}, ["mix", "'5' is no mix; choose base, typos"]),
        ({"stage": "4c"}, ["stage", "unknown parameter"]),
        ({"track": "words"}, ["track = 'words'", "'titles' or 'similarity'"]),
        ({"seeds": []}, ["seeds = []", "at least 1"]),
        ({"seeds": 1}, ["seeds = 1", "valid list"]),
        ({"seeds": [1, 2, 1]}, ["seeds [1, 2, 1]", "the same one twice"]),
        ({"train.seed": 1}, ["train.seed", "unknown parameter"]),
        ({"synonyms.reader": "words"}, ["synonyms.reader = 'words'", "'thesaurus' or 'none'"]),
        (
            {"synonyms.file": ["a.csv", "/b.csv"]},
            ["synonyms", "/b.csv is not below synonyms.folder = data/sample"],
        ),
        (
            {"feedback.folder": "s3://ours/reviewed"},
            ["feedback.folder", "external: {reviewed: s3://ours/reviewed}", "data/external/"],
        ),
        ({"ingest.inputs.delimiter": "tab"}, ["ingest.inputs.delimiter", "choose one character"]),
        ({"ingest.taxonomy.encoding": "utf-9"}, ["ingest.taxonomy.encoding", "is no encoding"]),
        (
            {"extra_words.test_share": 0.8, "extra_words.gate_share": 0.2},
            ["extra_words", "= 1.1", "lower them to 1 or less"],
        ),
        (
            {"simulate_feedback.judged_at": "today"},
            ["simulate_feedback.judged_at = 'today'", "pattern"],
        ),
        ({"feedback.file": "x.csv"}, ["feedback.file", "unknown parameter"]),
        ({"feedback.gate_share": 1.5}, ["feedback.gate_share = 1.5", "equal to 1"]),
        ({"feedback.max_rejected_share": 2}, ["feedback.max_rejected_share = 2", "equal to 1"]),
        ({"lexical.tfidf_orders": [2]}, ["lexical.tfidf_orders = [2]", "at least 2"]),
        ({"lexical.tfidf_orders": [0, 3]}, ["lexical.tfidf_orders.0 = 0", "equal to 1"]),
        ({"register.name": "a/b"}, ["register.name = 'a/b'", "pattern"]),
        ({"similarity.names": ["lstm"]}, ["similarity.names", "unknown", "spelling"]),
        (
            {"similarity.systems.lstm.encoder": {"kind": "best"}},
            ["similarity.systems.lstm.encoder.kind = 'best'", "no section", "choose attentive"],
        ),
        (
            {"similarity.systems.lstm.train.max_steps": -1},
            ["similarity.systems.lstm.train.max_steps = -1", "greater"],
        ),
    ],
)
def test_the_message_says_what_to_change(
    load: Load, changes: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(ParamsError) as error:
        check_params(load(changes))
    message = str(error.value)
    assert all(word in message for word in ["params.yaml", *words]), message
    assert max(map(len, message.splitlines())) < 400  # no section is poured out


def test_all_faults_at_once(load: Load) -> None:
    with pytest.raises(ParamsError) as error:
        load({"seed": "x", "train.clip_norm": 0, "pairs.more": 1})
    assert len(str(error.value).splitlines()) == 4


def test_shares_that_add_up_to_one(load: Load) -> None:
    """0.56 + 0.34 + 0.1 is 1.0000000000000002 in floating point, and allowed."""
    assert 0.56 + 0.34 + 0.1 > 1
    shares = {"annotations_share": 0.56, "gate_share": 0.34, "valid_share": 0.1}
    load({f"split.{name}": share for name, share in shares.items()})


def test_dissimilar_pairs_are_needed_only_by_the_loss_that_reads_them(load: Load) -> None:
    check_params(load({"pairs.dissimilar_per_similar": 0}))
    contrastive = {"train.loss.kind": "contrastive", "losses.contrastive.negatives": "hardest"}
    check_params(load({"pairs.dissimilar_per_similar": 0, **contrastive}))


@pytest.mark.thorough
@pytest.mark.parametrize("mix", MIXES)
def test_every_mix_is_text(load: Load, mix: str) -> None:
    """Among the mixes is `4c`; 4 and "4" would be two things to DVC."""
    assert load({"mix": mix}).mix == mix


def test_the_command_says_what_is_wrong(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads the file of the working directory."""
    monkeypatch.chdir(tmp_path)
    load({})
    whole.main()
    load({"losses.contrastive.margin": 3})
    with pytest.raises(ParamsError, match="margin = 3"):
        whole.main()


@pytest.mark.parametrize("text", ["", "a: [", "- 1"])
def test_a_file_that_is_no_mapping(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.yaml").write_text(text)
    with pytest.raises(ParamsError, match=r"p\.yaml"):
        load_params(tmp_path / "p.yaml")


def test_sections_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_params(DEFAULT).pairs.positives_per_anchor = 3  # type: ignore[misc]
