"""`params.yaml`: what is refused, and whether the message says what to change."""

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
import yaml

from tasks import check_params as whole
from tasks.check_params import check_params, load_params
from tasks.io.section import ParamsError
from tasks.pipeline.train import training_settings

DEFAULT = Path(__file__).parents[2] / "params.yaml"
Load = Callable[[dict[str, Any]], Any]
OVER_ONE = {"split.annotations_share": 0.8, "split.gate_share": 0.2}
CONTRASTIVE = {"train.loss.kind": "contrastive", "pairs.dissimilar_per_similar": 0}
NO_PAIRS = CONTRASTIVE | {"losses.contrastive.negatives": "pairs"}


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Load the defaults with changes; a key is a dotted path, `None` takes a parameter away."""

    def with_changes(changes: dict[str, Any]) -> Any:
        values = yaml.safe_load(DEFAULT.read_text(encoding="utf-8"))
        for name, value in changes.items():
            *above, last = name.split(".")
            section = reduce(dict.__getitem__, above, values)
            section[last] = value
            if value is None:
                del section[last]
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
        ({"threads": "0"}, ["threads", "OMP_NUM_THREADS="]),
        ({"losses.contrastive.margin": 3}, ["losses.contrastive", "margin = 3", "-1 and 1"]),
        ({"losses.contrastive.margin": "0"}, ["contrastive.margin = '0'", "valid number"]),
        ({"losses.contrastive.margin": None}, ["losses.contrastive.margin", "missing", "put it"]),
        ({"losses.best": {}}, ["losses.best", "no kind 'best'; choose contrastive"]),
        ({"encoders.recurrent.mode": "slow"}, ["encoders.recurrent.mode = 'slow'", "'paper' or"]),
        ({"train.loss.kind": "best"}, ["train.loss.kind = 'best'", "no section", "contrastive"]),
        ({"train.encoder.kind": "../x"}, ["train.encoder.kind = '../x'", "pattern"]),
        ({"train.compatible_with": "champion"}, ["train.compatible_with = 'champion'", "pattern"]),
        ({"train.compatible_with": "models:/a/3"}, ["= 'models:/a/3'", "info_nce: name"]),
        ({"train.loss.kind": "frozen_margin"}, ["compatible_with = ''", "frozen_margin: name"]),
        ({"train.max_steps": 1.5}, ["train.max_steps = 1.5", "integer"]),
        ({"pairs.shares.typo": 1.0}, ["pairs.shares.typo = 1.0", "less than 1"]),
        ({"pairs.shares.typo": None}, ["pairs", "'synonym', 'typo']; check ['typo']"]),
        ({"pairs.contradicted_pairs": "maybe"}, ["contradicted_pairs = 'maybe'", "or 'kept'"]),
        (OVER_ONE, ["split", "= 1.1", "lower them to 1 or less"]),
        ({"typos.substituted": 0.8, "typos.deleted": 0.3}, ["substituted + deleted = 1.1"]),
        ({"extra_words.test_share": 0.9, "extra_words.gate_share": 0.2}, ["extra_words", "= 1.2"]),
        ({"ingest.taxonomy.files.aliases": "/x.csv"}, ["ingest", "/x.csv is not below"]),
        ({"ingest.inputs.file": "b/../../x.csv"}, ["x.csv is not below ingest.folder", "watches"]),
        ({"ingest.taxonomy.reader": "csv"}, ["'csv' is no reader of", "choose esco, esco_par"]),
        ({"ingest.inputs.delimiter": "tab"}, ["ingest.inputs.delimiter", "choose one character"]),
        ({"scored_pairs.files.words": "../w.csv"}, ["scored_pairs", "../w.csv is not below"]),
        ({"synonyms.reader": "words"}, ["synonyms.reader = 'words'", "'thesaurus' or 'none'"]),
        ({"synonyms.file": ["a.csv", "/b.csv"]}, ["synonyms", "/b.csv is not below"]),
        (NO_PAIRS, ["losses.contrastive", "dissimilar_per_similar is 0", "choose other"]),
        ({"mix": "5"}, ["mix", "'5' is no mix; choose base, typos"]),
        ({"track": "words"}, ["track = 'words'", "'titles' or 'similarity'"]),
        ({"seeds": []}, ["seeds = []", "at least 1"]),
        ({"seeds": [1, 2, 1]}, ["seeds [1, 2, 1]", "the same one twice"]),
        ({"feedback.folder": "s3://ours/reviewed"}, ["external: {reviewed: s3://ours/reviewed}"]),
        ({"simulate_feedback.judged_at": "today"}, ["judged_at = 'today'", "pattern"]),
        ({"feedback.gate_share": 1.5}, ["feedback.gate_share = 1.5", "equal to 1"]),
        ({"lexical.tfidf_orders": [0, 3]}, ["lexical.tfidf_orders.0 = 0", "equal to 1"]),
        ({"register.name": "a/b"}, ["register.name = 'a/b'", "pattern"]),
        ({"similarity.systems.lstm.train.max_steps": -1}, ["lstm.train.max_steps = -1"]),
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
    check_params(load(CONTRASTIVE | {"losses.contrastive.negatives": "hardest"}))


def test_the_command_says_what_is_wrong(load: Load, tmp_path, monkeypatch) -> None:
    """It reads the file of the working directory."""
    monkeypatch.chdir(tmp_path)
    load({})
    whole.main()
    load({"losses.contrastive.margin": 3})
    with pytest.raises(ParamsError, match="margin = 3"):
        whole.main()


def test_sections_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_params(DEFAULT).pairs.positives_per_anchor = 3  # type: ignore[misc]
