"""Promotion of tiny runs: the decision, its tags and file, and the version that waits."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import tiny_run
from mlflow_import import WARNINGS, mlflow
from tiny_registry import killed_before

from tasks.io.files import read_json, write_json
from tasks.io.frames import write_frame
from tasks.io.mixes import read_queries
from tasks.io.schemas import OCCUPATIONS, SPLIT_ALIASES
from tasks.io.tracking import registry
from tasks.release.gate.disputed import read_disputed, waiting_version
from tasks.release.gate.impact import remember
from tasks.release.gate.rule import GateDecision
from tasks.release.gate.run_gate import NOTHING_COMPARED
from tasks.release.registry import promote as promoting
from tasks.release.registry.promote import promote
from tasks.release.registry.register import CORRECTS, register

pytestmark = [pytest.mark.slow, *WARNINGS]

MakeRun = Callable[..., Path]


def aliases(root: Path, name: str) -> dict[str, str]:
    """MLflow's versions are numbers here and strings there."""
    with registry(root) as client:
        of_model = client.get_registered_model(name).aliases
    return {alias: str(version) for alias, version in of_model.items()}


def test_promotion(root: Path, make_run: MakeRun) -> None:
    """Promoted over the untrained network; a useless one is refused; each is decided once."""
    first = register(root)
    decision = promote(root, first.version)
    assert decision.promoted and "any of 1 tests; better on typos" in decision.reason
    assert "| typos |" in decision.table_markdown
    assert register(root).alias == "champion"
    assert promote(root, 1) == decision

    useless = register(make_run(root, good=False))
    refused = promote(root, useless.version)
    assert not refused.promoted and "champion version 1 on typos" in refused.reason
    assert promote(root, useless.version) == refused
    with registry(root) as client:
        tags = client.get_model_version(first.name, "2").tags
    assert aliases(root, first.name) == {"champion": "1", "challenger": "2"}
    assert tags["decision"] == "not promoted" and tags["decision_reason"] == refused.reason
    figures = json.loads(tags["decision_figures"])
    assert [row["test"] for row in figures] == ["typos"] and max(map(len, tags.values())) < 5000


def test_everyday_titles_are_a_test_of_the_gate(root: Path) -> None:
    """Both models know these titles themselves; that they are held out hides them nowhere."""
    tiny_run.change_params(root, "gate", everyday="everyday.csv")
    rows = ["Confectioner,en,clear,baker", "Nurse (night),en,clear,nurse", "Ward,en,vague,"]
    table = ["raw_title,language,kind,occupation_ids,split", *(f"{row},work" for row in rows)]
    (root / "everyday.csv").write_text("\n".join(table), encoding="utf-8")
    decision = promote(root, register(root).version)
    assert "any of 2 tests" in decision.reason
    assert "| everyday | 2 | 1.000 | 1.000 | +0.000" in decision.table_markdown


def test_a_first_version_that_training_made_worse_is_refused_with_what_to_do(root: Path) -> None:
    """The consumer finds what the reason names, and the owner's call works."""
    model = root / "data/train/typos/7/model"
    weights, initial = (model / f"{name}.safetensors" for name in ("weights", "initial"))
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


def bulk_run(folder: Path, model: str) -> int:
    """Leave a run in which all titles came in, the first one ten times; return its rows."""
    titles = tiny_run.aliases()["title"].to_list()
    folder.mkdir()
    pl.DataFrame({"t": titles + titles[:1] * 9}).write_parquet(folder / "part.parquet")
    rows = len(titles) + 9
    result = {"model": model, "column": "t", "params": {}}
    manifest = {"result": result, "parts": [{"name": "part.parquet", "rows": rows}], "rows": rows}
    write_json(manifest, folder / "manifest.json")
    return rows


def test_the_decision_stands_in_a_file_with_its_impact(root, make_run, monkeypatch) -> None:
    """It is made anew when it is gone, but later changes of the bulk run do not change it."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(root.parent))
    name, output = register(root).name, root.parent / "answers"
    promote(root, "1")
    rows = bulk_run(output, f"models:/{name}/1")
    remember(root, output)
    other = register(make_run(root, good=False))
    decision = promote(root, other.version)
    file = root / "data/gate/decision.json"
    saved = read_json(file)
    assert saved.keys() == NOTHING_COMPARED.keys() | {
        *("name", "version", "registered_at", "promoted", "reason"),
        *("figures", "table_markdown", "undecided"),
    }
    assert (saved["name"], saved["version"]) == (name, "2")
    assert (saved["promoted"], saved["reason"]) == (decision.promoted, decision.reason)
    assert [saved[k] for k in ("opponent", "margin", "alpha")] == ["champion version 1", 0.02, 0.04]
    assert saved["table_markdown"] == decision.table_markdown
    (figures,) = saved["figures"]
    assert figures["test"] == "typos"
    changes = [one["change"] for one in saved["changed_predictions"]]
    gained = changes.count("wrong to right") - changes.count("right to wrong")
    queries = len(read_queries("gate", root / "data"))
    assert gained / queries == pytest.approx(figures["difference"], abs=0.1)  # ties count in part
    assert all(one["rows"] >= 1 for one in saved["changed_predictions"])
    shown, sample = saved["impact"], saved["disputed"]
    assert shown["model"] == f"models:/{name}/1"
    assert shown["run_rows"] == shown["queried_rows"] == rows
    assert 0 < shown["changed_rows"] == sum(one["rows"] for one in shown["changed"])
    assert sample["queried"] == shown["queried_titles"]
    assert len(sample["titles"]) == shown["changed_titles"]
    with registry(root) as client:
        version = client.get_model_version(name, "2")
        folder = client.get_run(version.run_id).info.artifact_uri
    registered = datetime.fromisoformat(saved["registered_at"])
    assert registered.timestamp() == version.creation_timestamp // 1000
    assert saved["registered_at"].endswith("+00:00")
    whole = file.read_bytes()
    file.unlink()
    (output / "part.parquet").unlink()
    assert promote(root, other.version) == decision
    assert file.read_bytes() == whole
    Path(folder.removeprefix("file://"), promoting.ARTIFACT).unlink()
    promote(root, other.version)
    kept = {key: saved[key] for key in saved.keys() - NOTHING_COMPARED.keys()}
    assert read_json(file) == NOTHING_COMPARED | kept, "no more is known than its tags say"


def test_a_kill_between_decision_and_alias_is_made_good(root: Path) -> None:
    done = register(root)
    with killed_before(0, "set_registered_model_alias"):
        promote(root, done.version)
    assert promote(root, done.version).promoted
    assert aliases(root, done.name) == {"champion": "1"}


def test_a_champion_that_was_followed_is_not_made_champion_again(root, make_run: MakeRun) -> None:
    first = register(root)
    promote(root, first.version)
    other = register(make_run(root, seed=2))
    with registry(root) as client:
        client.set_registered_model_alias(first.name, "champion", other.version)
    again = promote(make_run(root), register(make_run(root)).version)
    assert not again.promoted and "champion is version 2 now" in again.reason


def test_other_taxonomies_are_not_compared(root: Path, make_run: MakeRun) -> None:
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
        promote(make_run(root), other.version)


OLDER = """
import mlflow
import pandas as pd
class Older(mlflow.pyfunc.PythonModel):
    def predict(self, context, model_input: pd.DataFrame) -> pd.DataFrame:
        return model_input
mlflow.models.set_model(Older())
"""


def test_a_champion_of_an_older_format_is_named_and_nothing_decided(root: Path, tmp_path) -> None:
    """What the message says helps: without the alias the same version is judged."""
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


def test_a_champion_made_by_hand_stays(root: Path) -> None:
    done = register(root)
    with registry(root) as client:
        client.set_registered_model_alias(done.name, "champion", done.version)
    decision = promote(root, done.version)
    assert decision.promoted and "by hand" in decision.reason
    assert register(root).alias == "champion"


def test_a_split_that_the_champion_trained_on_is_noted(root: Path, make_run: MakeRun) -> None:
    """The champion's split had every alias in `train`, and so all that the gate asks."""
    everything = tiny_run.aliases().with_columns(split=pl.lit("train"))
    write_frame(everything, root / "data/split/aliases.parquet", SPLIT_ALIASES)
    promote(root, register(root).version)
    other = register(make_run(root, seed=2))
    page = promote(root, other.version).table_markdown
    queries = read_queries("gate", root / "data")
    assert f"{len(queries)} of the gate's titles were in its training" in page


def test_a_version_waits_until_it_is_decided_or_the_next_network_is_judged(
    root: Path, make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A champion with later feedback, which is judged between, does not take its place."""
    first = register(root)
    promote(root, first.version)
    sample = {"disputed": {"queried": 9, "titles": [["Night owl", "nurse"]]}}
    few = GateDecision(False, "few", [], undecided=True)
    undecided = few, NOTHING_COMPARED | sample
    decided = GateDecision(False, "worse", []), NOTHING_COMPARED | sample

    def judged(
        seed: int, outcome: tuple[GateDecision, dict[str, Any]], corrects: str | None = None
    ) -> str:
        monkeypatch.setattr(promoting, "run_gate", lambda *_: outcome)
        made = register(make_run(root, seed=seed))
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
    without_a_run = judged(8, (few, NOTHING_COMPARED))
    assert waiting_version(root) == without_a_run and read_disputed(root).is_empty()
    judged(9, undecided, corrects=without_a_run)
    judged(10, (few, NOTHING_COMPARED), corrects=waiting_version(root))
    assert len(read_disputed(root)) == 1, "the run is gone, and its titles may still be judged"
