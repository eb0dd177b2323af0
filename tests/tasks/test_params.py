"""`params.yaml`: what is refused, and whether the message says what to change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tasks.network_params import check_networks, training_settings
from tasks.params import ParamsError, load_params

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
            for part in above:
                section = section[part]
            if value is None:
                del section[last]
            else:
                section[last] = value
        (tmp_path / "params.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
        return load_params(tmp_path / "params.yaml")

    return with_changes


def test_the_defaults_are_valid_and_reach_the_training_loop() -> None:
    params = load_params(DEFAULT)
    check_networks(params)
    settings = training_settings(params, params.seeds[0])
    assert settings.encoder.hidden == params.encoders["recurrent"]["hidden"]
    assert settings.loss.margin == params.losses["contrastive"]["margin"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"train.margn": 1}, ["train.margn", "unknown parameter", "spelling"]),
        ({"surprise": 1}, ["surprise", "unknown parameter"]),
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
        ({"train.loss.kind": "best"}, ["train.loss.kind = 'best'", "no section", "contrastive"]),
        ({"train.encoder.kind": "../x"}, ["train.encoder.kind = '../x'", "pattern"]),
        ({"train.compatible_with": "champion"}, ["train.compatible_with = 'champion'", "pattern"]),
        (
            {"train.compatible_with": "models:/rolecall/3"},
            ["train.compatible_with = 'models:/rolecall/3'", "contrastive: name", "exactly if"],
        ),
        ({"pairs.shares.typo": 1.0}, ["pairs.shares.typo = 1.0", "less than 1"]),
        ({"pairs.shares.synonyms": 0.1}, ["pairs.shares.synonyms", "unknown", "spelling"]),
        ({"pairs.outranked": "maybe"}, ["pairs.outranked = 'maybe'", "'dropped' or 'kept'"]),
        (
            {"split.annotations_share": 0.8, "split.gate_share": 0.2},
            ["split", "= 1.1", "lower them to 1 or less"],
        ),
        ({"typos.substituted": 0.8, "typos.deleted": 0.3}, ["typos", "above 1", "lower one"]),
        ({"typos.substituted": 1.2}, ["typos.substituted = 1.2", "less than or equal to 1"]),
        (
            {"ingest.sources": ["a", "a", "a", "a"]},
            ["ingest", "sources must be 4", "data/sample/aliases.csv", "data/sample/inputs.csv"],
        ),
        ({"ingest.sources": ["a"]}, ["ingest.sources", "at least 4"]),
        (
            {"pairs.dissimilar_per_similar": 0, "losses.contrastive.negatives": "pairs"},
            ["losses.contrastive", "dissimilar_per_similar is 0", "negatives of the batch"],
        ),
        ({"train.batch_pairs": "many"}, ["train.batch_pairs = 'many'", "valid integer"]),
        ({"train.max_steps": 1.5}, ["train.max_steps = 1.5", "integer"]),
        (
            {"encoders.recurrent.mode": "slow"},
            ["encoders.recurrent.mode = 'slow'", "'paper' or 'fast'"],
        ),
        ({"stage": 2}, ["stage = 2", "'0', '1', '2', '3', '4' or '4c'"]),
        ({"stage": "5"}, ["stage = '5'", "'4' or '4c'"]),
        ({"seeds": []}, ["seeds = []", "at least 1"]),
        ({"seeds": 1}, ["seeds = 1", "valid list"]),
        ({"train.seed": 1}, ["train.seed", "unknown parameter"]),
        ({"synonyms.reader": "words"}, ["synonyms.reader = 'words'", "'table' or 'thesaurus'"]),
        (
            {"extra_words.test_share": 0.8, "extra_words.gate_share": 0.2},
            ["extra_words", "= 1.1", "lower them to 1 or less"],
        ),
        ({"score.judged_at": "today"}, ["score.judged_at = 'today'", "pattern"]),
        ({"feedback.max_rejected_share": 2}, ["feedback.max_rejected_share = 2", "equal to 1"]),
        ({"lexical.tfidf_orders": [2]}, ["lexical.tfidf_orders = [2]", "at least 2"]),
        ({"lexical.tfidf_orders": [0, 3]}, ["lexical.tfidf_orders.0 = 0", "equal to 1"]),
        ({"register.name": "a/b"}, ["register.name = 'a/b'", "pattern"]),
    ],
)
def test_the_message_says_what_to_change(
    load: Load, changes: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(ParamsError) as error:
        check_networks(load(changes))
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


@pytest.mark.parametrize("stage", ["0", "1", "2", "3", "4", "4c"])
def test_every_stage_number_is_text(load: Load, stage: str) -> None:
    """Among the numbers is `4c`; 4 and "4" would be two things to DVC."""
    assert load({"stage": stage}).stage == stage


@pytest.mark.parametrize("text", ["", "a: [", "- 1"])
def test_a_file_that_is_no_mapping(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.yaml").write_text(text)
    with pytest.raises(ParamsError, match=r"p\.yaml"):
        load_params(tmp_path / "p.yaml")


def test_sections_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_params(DEFAULT).pairs.rounds = 3  # type: ignore[misc]
