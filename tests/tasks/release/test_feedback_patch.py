"""Feedback at work in the champion without training: answered, judged, refused, killed, resumed."""

import shutil
from pathlib import Path
from unittest.mock import Mock

import pandas as pd
import pytest
import tiny_run
from frames_of import Rows, frame_of, write_overrides
from mlflow_import import WARNINGS, mlflow
from served_toy import overrides_of
from tiny_registry import killed_before, new_database
from tiny_run import change_params

from tasks.io.frames import write_frame
from tasks.io.schemas import RESOLUTIONS
from tasks.io.tracking import registry
from tasks.release.feedback_patch import correct, judge_again, pick_up
from tasks.release.gate.disputed import waiting_version, write_waiting
from tasks.release.registry import promote as promoting
from tasks.release.registry.promote import promote
from tasks.release.registry.register import CHAMPION, register
from tasks.release.registry.versions import rollback

pytestmark = [pytest.mark.slow, *WARNINGS]

NAME = "corrected"
SECTION = tiny_run.register_section(NAME)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose first version is champion, in the default registry of its folder."""
    folder = tmp_path_factory.mktemp("first") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        patch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))
        new_database(folder / ".mlflow")
        tiny_run.make_run(folder, register=SECTION)
        change_params(
            folder, "calibrate", label_weight=1e-3
        )  # to this network all titles are alike
        promote(folder, register(folder).version)
    return folder


@pytest.fixture
def root(first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy it."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    return Path(shutil.copytree(first, tmp_path / "run"))


def say(root: Path, *said: tuple[str, str | None], held_out: Rows = ()) -> None:
    """Write what people said of raw titles, (raw title, occupation_id or None: no job title).

    Those `held_out` are judged as well, and not learned from.
    """
    both = [(*row, False) for row in said] + [(*row, True) for row in held_out]
    rows = ((raw, "baker", None, "incorrect", False, name, held) for raw, name, held in both)
    resolutions = root / "data/feedback/resolutions.parquet"
    write_frame(frame_of(rows, RESOLUTIONS), resolutions, RESOLUTIONS)
    write_overrides(root / "data/feedback/overrides.parquet", [*said, *held_out])


def champion(root: Path) -> tuple[str, mlflow.pyfunc.PyFuncModel]:
    with registry(root) as client:
        version = str(client.get_model_version_by_alias(NAME, CHAMPION).version)
        return version, mlflow.pyfunc.load_model(f"models:/{NAME}@{CHAMPION}")


def answers(root: Path, *titles: str) -> list[str | None]:
    frame = pd.DataFrame({"raw_title": titles})
    return champion(root)[1].predict(frame)["occupation_id"].tolist()


def waiting_challenger(root: Path) -> str:
    """Register another network, which waits for a verdict on one title; return its version."""
    tiny_run.make_run(root, 2, register=SECTION)
    say(root)
    version = register(root).version
    write_waiting(root, version, {"queried": 9, "titles": [["Lorry loader", "estate"]]})
    return version


def test_what_people_said_is_at_work_in_the_next_version(root: Path) -> None:
    """The corrected title in any spelling, and titles like it; a held-out one by override."""
    before = answers(root, "Night owl", "see below", "Lorry loader", *tiny_run.TAXONOMY)
    said = [("Night owl", "nurse"), ("see below", None)]
    say(root, *said, held_out=[("Lorry loader", "estate")])
    done = pick_up(root)
    assert done is not None and done[1].promoted and done[0].version == "2"
    begin = "the network of champion version 1 with later feedback, not significantly worse on any"
    assert done[1].reason == f"{begin} of 1 tests"
    after = answers(root, "NIGHT  owl!", "See below", "lorry loader", *tiny_run.TAXONOMY)
    assert after[:3] == ["nurse", None, "estate"] != before[:3]
    assert after[3:] == before[3:]
    version, model = champion(root)
    served = model.unwrap_python_model().normalizer
    assert served.exemplars["title"] == ["night owl"] and served.versions["model_version"]
    with registry(root) as client:
        tags = client.get_model_version(NAME, version).tags
        first = client.get_model_version(NAME, "1").tags
    assert tags["corrects"] == "1" and tags["artifact_hash"] != first["artifact_hash"]
    assert tags["artifact_hash"].startswith(served.versions["model_version"])
    assert {tags[name] == first[name] for name in ("taxonomy_hash", "mix", "train_seed")} == {True}
    assert pick_up(root) is None and champion(root)[0] == version


def test_said_otherwise_later_and_taken_back(root: Path) -> None:
    say(root, ("Night owl", "nurse"), ("lorry loader", "estate"))
    pick_up(root)
    say(root, ("Night owl", "baker"))
    pick_up(root)
    version, model = champion(root)
    served = model.unwrap_python_model().normalizer
    rows = zip(served.exemplars["title"], served.exemplars["occupation_id"], strict=True)
    assert sorted(rows) == [("lorry loader", "estate"), ("night owl", "baker")]
    assert served.overrides == overrides_of(("night owl", "baker"))
    assert answers(root, "night owl") == ["baker"] and version == "3"


def test_what_was_taken_back_does_not_come_again_in_parts(root: Path) -> None:
    """Only the gate's refusal of exemplars leaves the look-up."""
    say(root, ("Night owl", "nurse"))
    pick_up(root)
    rollback(root)
    done = pick_up(root)
    assert done is not None and not done[1].promoted
    assert done[0].version == "2" and "; champion is version 1 now" in done[1].reason
    assert "`rolecall rollback --to 2`" in done[1].reason
    assert champion(root)[0] == "1"
    say(root, ("Night owl", "baker"))
    pick_up(root)
    assert champion(root)[0] == "3", "other feedback is applied"


def test_exemplars_that_do_harm_leave_the_look_up(root: Path) -> None:
    """Of a weight that outvotes every alias."""
    change_params(root, "calibrate", label_weight=1e9)
    before = answers(root, *tiny_run.TAXONOMY)
    say(root, ("Night owl", "nurse"))
    done = pick_up(root)
    assert done is not None and done[1].promoted and done[0].version == "3"
    assert champion(root)[0] == "3"
    assert answers(root, "night owl", *tiny_run.TAXONOMY) == ["nurse", *before]
    with registry(root) as client:
        refused = client.get_model_version(NAME, "2").tags
    assert refused["decision"] == "not promoted"
    assert "significantly worse than champion version 1 on typos" in refused["decision_reason"]
    assert pick_up(root) is None


def test_a_waiting_challenger_is_judged_by_verdicts_and_has_the_feedback(root: Path) -> None:
    """Nothing happens without new verdicts; promoted, it answers what people said meanwhile."""
    say(root)
    assert judge_again(root) is None, "none waits"
    other = waiting_challenger(root)
    assert judge_again(root) is None, "nobody judged anything"
    say(root, ("Night owl", "nurse"), held_out=[("Lorry loader", "estate")])
    corrected = pick_up(root)
    assert corrected is not None and champion(root)[0] == corrected[0].version
    done = judge_again(root)
    assert done is not None
    with registry(root) as client:
        tags = client.get_model_version(NAME, done[0].version).tags
        address = f"models:/{NAME}/{done[0].version}"
        served = mlflow.pyfunc.load_model(address).unwrap_python_model().normalizer
    assert tags["corrects"] == other == "2"
    assert tags["decision"] == ("promoted" if done[1].promoted else "not promoted")
    assert served.exemplars["title"] == ["night owl"]
    assert served.overrides == overrides_of(("night owl", "nurse"), ("lorry loader", "estate"))


def test_a_kill_before_a_decision_is_noted_leaves_the_challenger_to_the_next(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Judged already, it is not registered again, and no longer waits under its number."""
    die = Mock(side_effect=KeyboardInterrupt)
    other = waiting_challenger(root)
    say(root, ("Night owl", "nurse"), held_out=[("Lorry loader", "estate")])
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(promoting, "write_waiting", die)
        patch.setattr(promoting, "note_that_none_waits", die)
        judge_again(root)
    assert waiting_version(root) == other == "2"
    done = judge_again(root)
    assert done is not None and done[0].version == "3" and done[0].already_registered
    assert waiting_version(root) != other


@pytest.mark.parametrize("fate", ["deleted", "of another taxonomy"])
def test_a_waiting_challenger_that_cannot_have_the_feedback_waits_no_longer(
    root: Path, capsys: pytest.CaptureFixture[str], fate: str
) -> None:
    """The champion has been corrected by then, so nothing fails."""
    other = waiting_challenger(root)
    say(root, ("Night owl", "nurse"))
    with registry(root) as client:
        if fate == "deleted":
            client.delete_model_version(NAME, other)
        else:
            client.set_model_version_tag(NAME, other, "taxonomy_hash", "another")
    assert judge_again(root) is None and waiting_version(root) is None
    says = {"deleted": "has no version 2 to correct", "of another taxonomy": "another taxonomy"}
    printed = capsys.readouterr().out
    assert "version 2 waits for verdicts no longer: " in printed and says[fate] in printed


@pytest.mark.parametrize("written", [0, 1, 2, 6, 7])
def test_a_kill_before_any_write_is_finished_by_the_next(root: Path, written: int) -> None:
    """Of the registry; version 2 stands once, and the alias names a version all the time."""
    say(root, ("Night owl", "nurse"))
    writes = ("set_registered_model_alias", "set_model_version_tag", "log_dict")
    with killed_before(written, *writes):
        pick_up(root)
    assert champion(root)[0] in ("1", "2")
    pick_up(root)
    assert champion(root)[0] == "2" and answers(root, "night owl") == ["nurse"]
    with registry(root) as known:
        assert len(known.search_model_versions(f"name = '{NAME}'")) == 2


def test_what_cannot_be_corrected_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    say(root, ("Night owl", "nurse"))
    with monkeypatch.context() as patch:
        patch.setattr("models.serving.package.FORMAT", 99)
        earlier = "/1 has format 15, not 99; trained by an earlier version: run `rolecall retrain`"
        with pytest.raises(ValueError, match=earlier):
            correct(root, exemplars=True)
    with registry(root) as client:
        client.set_model_version_tag(NAME, "1", "taxonomy_hash", "another")
    with pytest.raises(ValueError, match="version 1 answers from another taxonomy"):
        correct(root, exemplars=True)
    with registry(root) as client:
        client.delete_registered_model_alias(NAME, CHAMPION)
    with pytest.raises(ValueError, match="no champion to correct: run `rolecall retrain`"):
        correct(root, exemplars=True)
