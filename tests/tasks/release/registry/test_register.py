"""Registration of a tiny run, with a registry of its own."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from mlflow_import import WARNINGS

from tasks.io.section import load_run
from tasks.io.tracking import registry
from tasks.release.model_package.run_files import RunFiles
from tasks.release.registry import promote as promoting
from tasks.release.registry import register as registering
from tasks.release.registry.register import read_metrics, register

pytestmark = [pytest.mark.slow, *WARNINGS]

MakeRun = Callable[..., Path]


def test_once_per_content_with_tags_metrics_and_alias(root: Path, make_run: MakeRun) -> None:
    first, second = register(root), register(root)
    assert (first.version, first.alias, first.already_registered) == ("1", "challenger", False)
    assert (second.version, second.alias, second.already_registered) == ("1", "challenger", True)
    artifact_hash = RunFiles.below(root).artifact_hash()
    with registry(root) as client:
        version = client.get_model_version(first.name, "1")
        tags = version.tags
        run_of_it = client.get_run(version.run_id)
    assert tags["artifact_hash"] == artifact_hash and tags["mix"] == "typos"
    assert {"git_commit", "tree", "params_changed", "lock_md5"} <= tags.keys()
    assert {"params_md5", "taxonomy_hash"} <= tags.keys()
    assert "data/split/aliases.parquet" in json.loads(tags["data_md5"])
    assert tags["train_seed"] == "7"
    figures = {"ngram/typos/success_at_1": 0.5, "typos/typos/success_at_1": 0.5}
    assert run_of_it.data.metrics == figures == read_metrics(root, load_run(root / "params.yaml"))
    third = register(make_run(root, seed=2))
    assert (third.version, third.alias) == ("2", "challenger")


def test_a_kill_between_two_writes_is_made_good(root: Path, monkeypatch) -> None:
    import mlflow

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(mlflow, "register_model", killed)
        register(root)
    done = register(root)
    assert (done.version, done.already_registered) == ("1", False)
    with registry(root) as client:
        place = client.get_experiment_by_name(done.name).experiment_id
        assert len(client.search_runs([place])) == 1  # the leftover is gone
        client.delete_registered_model_alias(done.name, "challenger")
    assert register(root).alias == "challenger"


def test_the_environment_is_left_as_it_was(root: Path) -> None:
    """Meanwhile MLflow prints no "View run at", with the password of a server's address."""
    from mlflow.environment_variables import MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT as QUIET

    before = dict(os.environ)
    with registry(root), registry(root):
        assert QUIET.get() is True
    assert QUIET.get() is False
    assert dict(os.environ) == before


def test_without_a_finished_run(tmp_path: Path, make_run: MakeRun) -> None:
    (make_run(tmp_path) / "data/train/typos/7/model/weights.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"weights\.safetensors"):
        registering.register(tmp_path)


def test_commands(root: Path, monkeypatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "argv", ["tasks.release.registry.promote"])
    registering.main()
    printed = capsys.readouterr().out
    assert printed.endswith("test_commands version 1 registered; alias challenger\n")
    promoting.main()
    assert "test_commands version 1 champion: a first version" in capsys.readouterr().out
    with pytest.raises(ValueError, match="test_commands has no challenger"):
        promoting.main()
