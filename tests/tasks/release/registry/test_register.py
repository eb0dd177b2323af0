"""Registration and promotion on a tiny run, with a registry of its own."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest
import tiny_run
import yaml
from mlflow_import import WARNINGS

from tasks.io.frames import write_frame
from tasks.io.queries import read_queries
from tasks.io.schemas import OCCUPATIONS, SPLIT_ALIASES
from tasks.io.section import load_run
from tasks.io.tracking import registry
from tasks.release.gate import run_gate as gating
from tasks.release.gate.disputed import Disputed
from tasks.release.gate.last_run import remember
from tasks.release.gate.rule import GateDecision
from tasks.release.gate.run_gate import GateRun
from tasks.release.gate.waiting import read_disputed, waiting_version
from tasks.release.model_package.run_files import RunFiles
from tasks.release.registry import promote as promoting
from tasks.release.registry import register as registering
from tasks.release.registry.promote import promote, standing
from tasks.release.registry.register import CORRECTS, find_version, read_metrics, register

pytestmark = [pytest.mark.slow, *WARNINGS]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One database for the module: making it takes seconds; tests differ by the model's name."""
    return f"sqlite:///{tmp_path_factory.mktemp('store')}/mlflow.db"


@pytest.fixture
def root(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Path:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)
    monkeypatch.chdir(tmp_path)  # where MLflow puts artifacts of a foreign store
    return run(tmp_path / "run", request)


def run(root: Path, request: pytest.FixtureRequest, seed: int = 1, good: bool = True) -> Path:
    return tiny_run.make_run(
        root,
        seed,
        good,
        register=tiny_run.register_section(request.node.name),
    )


def as_text(aliases: dict[str, object]) -> dict[str, str]:
    """MLflow's versions are numbers here and strings there."""
    return {alias: str(version) for alias, version in aliases.items()}


def test_once_per_content_with_tags_metrics_and_alias(
    root: Path, request: pytest.FixtureRequest
) -> None:
    first, second = register(root), register(root)
    assert (first.version, first.alias, first.already_registered) == ("1", "challenger", False)
    assert (second.version, second.alias, second.already_registered) == ("1", "challenger", True)
    artefact_hash = RunFiles.below(root).artefact_hash()
    with registry(root) as client:
        version = client.get_model_version(first.name, "1")
        tags = version.tags
        run_of_it = client.get_run(version.run_id)
    assert tags["artefact_hash"] == artefact_hash and tags["mix"] == "typos"
    assert {"git_commit", "tree", "params_changed", "lock_md5"} <= tags.keys()
    assert {"params_md5", "taxonomy_hash"} <= tags.keys()
    assert "data/split/aliases.parquet" in json.loads(tags["data_md5"])
    assert tags["train_seed"] == "7"
    figures = {"ngram/typos/success_at_1": 0.5, "typos/typos/success_at_1": 0.5}
    assert run_of_it.data.metrics == figures == read_metrics(root, load_run(root / "params.yaml"))
    third = register(run(root, request, seed=2))
    assert (third.version, third.alias) == ("2", "challenger")


def test_a_kill_between_logging_and_registering_leaves_nothing_half(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_a_kill_before_the_alias_is_made_good(root: Path) -> None:
    done = register(root)
    with registry(root) as client:
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


def test_promotion(root: Path, request: pytest.FixtureRequest) -> None:
    """Promoted over the untrained network; a useless one is refused; each is decided once."""
    first = register(root)
    decision = promote(root, first.version)
    assert decision.promoted and "none of 1 tests; better on typos" in decision.reason
    assert "| typos |" in decision.table_markdown
    assert register(root).alias == "champion"
    assert promote(root, 1) == decision

    useless = register(run(root, request, good=False))
    refused = promote(root, useless.version)
    assert not refused.promoted and "champion version 1 on typos" in refused.reason
    assert promote(root, useless.version) == refused
    with registry(root) as client:
        model = client.get_registered_model(first.name)
        tags = client.get_model_version(first.name, "2").tags
    assert as_text(model.aliases) == {"champion": "1", "challenger": "2"}
    assert tags["decision"] == "not promoted" and tags["decision_reason"] == refused.reason
    figures = json.loads(tags["decision_figures"])
    assert [row["test"] for row in figures] == ["typos"] and max(map(len, tags.values())) < 5000


def test_everyday_titles_are_a_test_of_the_gate(root: Path) -> None:
    """Both models know these titles themselves; that they are held out hides them nowhere."""
    values = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    values["gate"]["everyday"] = "everyday.csv"
    (root / "params.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    rows = ["Confectioner,en,clear,baker", "Nurse (night),en,clear,nurse", "Ward,en,vague,"]
    table = ["raw_title,language,kind,occupation_ids,split", *(f"{row},work" for row in rows)]
    (root / "everyday.csv").write_text("\n".join(table), encoding="utf-8")
    decision = promote(root, register(root).version)
    assert "none of 2 tests" in decision.reason
    assert "| everyday | 2 | 1.000 | 1.000 | +0.000" in decision.table_markdown


def test_a_first_version_that_training_made_worse_is_refused_with_what_to_do(root: Path) -> None:
    """The consumer finds what the reason names, and the owner's call works."""
    import mlflow

    weights, initial = (
        root / f"data/train/typos/7/model/{name}.safetensors" for name in ("weights", "initial")
    )
    good = weights.read_bytes()
    weights.write_bytes(initial.read_bytes())
    initial.write_bytes(good)
    done = register(root)
    refused = promote(root, done.version)
    assert not refused.promoted
    assert refused.reason.startswith("significantly worse than the untrained network on typos (-0.")
    address = f"models:/{done.name}@challenger"
    assert f"{done.name} has no champion: load models:/{done.name}/1 or {address}" in refused.reason
    with registry(root) as client:
        mlflow.pyfunc.load_model(address)
        call = refused.reason.partition("by hand: MlflowClient().")[2]
        assert call == f"set_registered_model_alias('{done.name}', 'champion', 1)"
        client.set_registered_model_alias(done.name, "champion", 1)
    assert promote(root, done.version).promoted


def test_the_decision_stands_in_a_file(root: Path, request: pytest.FixtureRequest) -> None:
    """Made anew when it is gone, also for a version of which no more than its tags are known."""
    promote(root, register(root).version)
    other = register(run(root, request, good=False))
    decision = promote(root, other.version)
    file = root / "data/gate/decision.json"
    saved = json.loads(file.read_text(encoding="utf-8"))
    assert saved.keys() == {
        *("name", "version", "registered_at", "promoted", "reason"),
        *("opponent", "table_markdown", "figures", "changed_predictions", "impact"),
        *("disputed", "undecided"),
    }
    assert (saved["name"], saved["version"]) == (other.name, "2")
    assert (saved["promoted"], saved["reason"]) == (decision.promoted, decision.reason)
    assert saved["opponent"] == "champion version 1"
    assert saved["table_markdown"] == decision.table_markdown
    (figures,) = saved["figures"]
    assert figures["test"] == "typos"
    changes = [one["change"] for one in saved["changed_predictions"]]
    difference = (changes.count("wrong to right") - changes.count("right to wrong")) / len(
        read_queries("gate", root / "data")
    )
    assert difference == pytest.approx(figures["difference"], abs=0.1)  # it counts ties in part
    assert saved["changed_predictions"][0].keys() == {
        *("test", "raw_title", "occupation_label", "before", "after", "change", "rows")
    }
    assert saved["impact"] is saved["disputed"] is None, "there was no bulk run"
    with registry(root) as client:
        version = client.get_model_version(other.name, "2")
        created = version.creation_timestamp / 1000
    assert datetime.fromisoformat(saved["registered_at"]).timestamp() == int(created)
    assert saved["registered_at"].endswith("+00:00")
    whole = file.read_bytes()
    file.unlink()
    stands = standing(root)
    assert stands is not None and stands[1] == decision
    assert file.read_bytes() == whole
    with registry(root) as client:
        (artifact,) = [f for f in client.list_artifacts(version.run_id) if "json" in f.path]
        folder = client.get_run(version.run_id).info.artifact_uri
        Path(folder.removeprefix("file://"), artifact.path).unlink()
    promote(root, other.version)
    assert json.loads(file.read_text(encoding="utf-8")) == saved | {
        "opponent": "",
        "changed_predictions": [],
    }


def test_the_decision_shows_its_impact(
    root: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All titles of the taxonomy came in, the first one ten times; a useless network changes some.

    The impact is written once: later changes of the run's folder do not change a decision.
    """
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(root.parent))
    first = register(root)
    promote(root, first.version)
    titles = tiny_run.aliases()["title"].to_list()
    output = root.parent / "answers"
    output.mkdir()
    pl.DataFrame({"t": titles + titles[:1] * 9}).write_parquet(output / "part.parquet")
    result = {"model": f"models:/{first.name}/1", "column": "t", "params": {}}
    rows = len(titles) + 9
    split = {"name": "part.parquet", "rows": rows}
    manifest = {"result": result, "parts": [split], "rows": rows}
    (output / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    remember(root, output)
    other = register(run(root, request, good=False))
    promote(root, other.version)
    file = root / "data/gate/decision.json"
    decision = json.loads(file.read_text(encoding="utf-8"))
    shown = decision["impact"]
    assert shown["model"] == f"models:/{first.name}/1"
    assert shown["run_rows"] == shown["queried_rows"] == rows
    assert shown["queried_titles"] == len(set(titles))
    assert 0 < shown["changed_rows"] == sum(one["rows"] for one in shown["changed"])
    assert all(one["before"] != one["after"] for one in shown["changed"])
    sample = decision["disputed"]
    assert (
        sample["queried"] == len(set(titles)) and len(sample["titles"]) == shown["changed_titles"]
    )
    assert decision["changed_predictions"] and all(
        one["rows"] >= 1 for one in decision["changed_predictions"]
    )
    (output / "part.parquet").unlink()
    promote(root, other.version)
    assert json.loads(file.read_text(encoding="utf-8")) == decision


def test_a_kill_between_decision_and_alias_is_made_good(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mlflow

    done = register(root)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(mlflow.MlflowClient, "set_registered_model_alias", killed)
        promote(root, done.version)
    assert promote(root, done.version).promoted
    with registry(root) as client:
        assert as_text(client.get_registered_model(done.name).aliases) == {"champion": "1"}


def test_a_champion_that_was_followed_is_not_made_champion_again(
    root: Path, request: pytest.FixtureRequest
) -> None:
    first = register(root)
    promote(root, first.version)
    other = register(run(root, request, seed=2))
    with registry(root) as client:
        client.set_registered_model_alias(first.name, "champion", other.version)
    again = promote(run(root, request), register(run(root, request)).version)
    assert not again.promoted and "champion is version 2 now" in again.reason


def test_other_taxonomies_are_not_compared(root: Path, request: pytest.FixtureRequest) -> None:
    first = register(root)
    promote(root, first.version)
    renamed = tiny_run.occupations().with_columns(pl.col("occupation_label") + "s")
    write_frame(renamed, root / "data/ingest/occupations.parquet", OCCUPATIONS)
    other = register(root)
    assert other.version == "2"
    decision = promote(root, other.version)
    assert not decision.promoted and "another taxonomy" in decision.reason
    assert "set_registered_model_alias" in decision.reason
    with pytest.raises(ValueError, match="has another taxonomy"):
        with registry(root) as client:
            client.delete_model_version_tag(first.name, "2", "decision")
        promote(run(root, request), other.version)


OLDER = """
import mlflow
import pandas as pd
class Older(mlflow.pyfunc.PythonModel):
    def predict(self, context, model_input: pd.DataFrame) -> pd.DataFrame:
        return model_input
mlflow.models.set_model(Older())
"""


def test_a_champion_of_an_older_format_is_named_and_nothing_decided(
    root: Path, tmp_path: Path
) -> None:
    """What the message says helps: without the alias the same version is judged."""
    import mlflow

    done = register(root)
    (tmp_path / "older.py").write_text(OLDER, encoding="utf-8")
    with registry(root) as client:
        tags = client.get_model_version(done.name, done.version).tags
        with mlflow.start_run():
            logged = mlflow.pyfunc.log_model(name="m", python_model=str(tmp_path / "older.py"))
        kept = {"taxonomy_hash": tags["taxonomy_hash"]}
        older = mlflow.register_model(logged.model_uri, done.name, tags=kept)
        client.set_registered_model_alias(done.name, "champion", older.version)
        with pytest.raises(ValueError, match=r"/2 has format unknown, .*: run `rolecall retrain`"):
            promote(root, done.version)
        assert "decision" not in client.get_model_version(done.name, done.version).tags
        client.delete_registered_model_alias(done.name, "champion")
    assert promote(root, done.version).promoted


def test_without_a_finished_run(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    (run(tmp_path, request) / "data/train/typos/7/model/weights.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"weights\.safetensors"):
        registering.register(tmp_path)


def test_find_version_of_nothing(root: Path) -> None:
    with registry(root) as client:
        assert find_version(client, "nobody", "0") is None


def test_commands(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "argv", ["tasks.release.registry.promote"])
    registering.main()
    assert capsys.readouterr().out.endswith(
        "test_commands version 1 registered; alias challenger\n"
    )
    promoting.main()
    assert "test_commands version 1 champion: a first version" in capsys.readouterr().out
    with pytest.raises(ValueError, match="test_commands has no challenger"):
        promoting.main()


def test_a_champion_made_by_hand_stays(root: Path) -> None:
    done = register(root)
    with registry(root) as client:
        client.set_registered_model_alias(done.name, "champion", done.version)
    decision = promote(root, done.version)
    assert decision.promoted and "by hand" in decision.reason
    assert register(root).alias == "champion"


def test_a_split_that_the_champion_trained_on_is_noted(
    root: Path, request: pytest.FixtureRequest
) -> None:
    """The champion's split had every alias in `train`, and so all that the gate asks."""
    everything = tiny_run.aliases().with_columns(split=pl.lit("train"))
    write_frame(everything, root / "data/split/aliases.parquet", SPLIT_ALIASES)
    promote(root, register(root).version)
    other = register(run(root, request, seed=2))
    page = promote(root, other.version).table_markdown
    queries = read_queries("gate", root / "data")
    assert f"{len(queries)} of the gate's titles were in its training" in page


def test_a_version_waits_until_it_is_decided_or_the_next_network_is_judged(
    root: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A champion with later feedback, which is judged between, does not take its place."""
    first = register(root)
    promote(root, first.version)
    sample = Disputed(9, [("Night owl", "nurse")])
    undecided = GateRun(GateDecision(False, "few", [], undecided=True), "v1", disputed=sample)
    decided = GateRun(GateDecision(False, "worse", []), "v1", disputed=sample)

    def judged(seed: int, outcome: GateRun, corrects: str | None = None) -> str:
        monkeypatch.setattr(gating, "run_gate", lambda *_: outcome)
        made = register(run(root, request, seed=seed))
        with registry(root) as client:
            if corrects:
                client.set_model_version_tag(made.name, made.version, CORRECTS, corrects)
        promote(root, made.version)
        return made.version

    second = judged(2, undecided)
    assert read_disputed(root)["normalized"].to_list() == ["night owl"]
    judged(3, decided, corrects=first.version)
    assert waiting_version(root) == second
    again = judged(4, undecided, corrects=second)
    assert waiting_version(root) == again, "with later feedback it waits in its own place"
    promote(root, again)
    assert waiting_version(root) == again
    judged(5, decided, corrects=again)
    assert waiting_version(root) is None and read_disputed(root).is_empty()
    last = judged(6, undecided)
    assert waiting_version(root) == last
    judged(7, decided)
    assert waiting_version(root) is None
    without_a_run = judged(8, replace(undecided, disputed=None))
    assert waiting_version(root) == without_a_run and read_disputed(root).is_empty()
    judged(9, undecided, corrects=without_a_run)
    judged(10, replace(undecided, disputed=None), corrects=waiting_version(root))
    assert len(read_disputed(root)) == 1, "the run is gone, and its titles may still be judged"
