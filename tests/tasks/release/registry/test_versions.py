"""Champions taken back: which version comes, what is kept of it, and kills on the way."""

import re
from pathlib import Path

import pytest
import tiny_run
import yaml
from mlflow_import import WARNINGS
from tiny_registry import killed_before

from tasks.io.tracking import registry
from tasks.release.gate.disputed import write_waiting
from tasks.release.registry.register import CARRIED_OUT, CHAMPION
from tasks.release.registry.versions import listing, rollback

pytestmark = [pytest.mark.slow, *WARNINGS]
WRITES = ["set_model_version_tag"] * 2
WRITES += ["delete_model_version_tag", "set_registered_model_alias"]
"""Of a rollback, in their order."""


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """Of the model, another one for each case."""
    return re.sub(r"\W", "_", request.node.name)


@pytest.fixture
def root(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> Path:
    """A root whose model has four versions: 1, 2 and 4 were made champion one after the other."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)
    params = yaml.safe_dump({"register": tiny_run.register_section(name)})
    (tmp_path / "params.yaml").write_text(params, encoding="utf-8")
    with registry(tmp_path) as client:
        client.create_registered_model(name)
        for number in "1234":
            client.create_model_version(name, f"file:///nowhere/{number}")
        for number in "124":
            client.set_registered_model_alias(name, CHAMPION, number)
            client.set_model_version_tag(name, number, CARRIED_OUT, "yes")
    return tmp_path


def champion(root: Path, name: str) -> str:
    with registry(root) as client:
        return str(client.get_model_version_by_alias(name, CHAMPION).version)


def line_of(root: Path, version: int) -> str:
    """The line of a version in the list."""
    begins = f"version {version} "
    return next(line for line in listing(root).splitlines() if line.startswith(begins))


def test_the_one_before_and_then_the_one_before_that(root: Path, name: str) -> None:
    """Version 3 never was champion; what was taken back does not come by itself."""
    assert rollback(root, why="nurses went to the cooks") == (
        f"{name}: version 4 taken back, champion is version 2 again"
    )
    assert champion(root, name) == "2"
    last, again = line_of(root, 4), line_of(root, 2)
    assert "taken back, for version 2, 20" in last
    assert last.endswith("UTC: nurses went to the cooks")
    assert "champion again, for version 4, 20" in again and "  champion  " in again
    assert "again" not in line_of(root, 1) and "taken" not in line_of(root, 3)
    rollback(root)
    assert champion(root, name) == "1"
    with pytest.raises(ValueError, match="no version before 1 was champion: name one, --to"):
        rollback(root)
    assert champion(root, name) == "1"


def test_the_list_names_the_version_that_waits(root: Path, name: str) -> None:
    with registry(root) as client:
        for number in "34":
            client.set_model_version_tag(name, number, "decision", "not promoted")
    write_waiting(root, "3", None)
    assert "  waits for verdicts: " in line_of(root, 3)
    assert "  not promoted: " in line_of(root, 4)


def test_a_version_that_is_named(root: Path, name: str) -> None:
    for wrong in ("4", "9", "x"):
        with pytest.raises(ValueError, match=f"--to {wrong}: .* has 1, 2, 3, 4; champion is 4"):
            rollback(root, wrong)
    rollback(root, "3")
    assert champion(root, name) == "3"
    rollback(root, "4", "it was right after all")
    assert champion(root, name) == "4"
    line = line_of(root, 4)
    assert "taken back" not in line and line.endswith("it was right after all")
    rollback(root)
    assert champion(root, name) == "2"


@pytest.mark.parametrize("written", range(len(WRITES)))
def test_a_kill_before_any_write_is_finished_by_the_next(root, name: str, written: int) -> None:
    """To version 3, which was taken back before; the alias names a version all the time."""
    with registry(root) as client:
        client.set_model_version_tag(name, "3", "rolled_back", '{"to": "2", "at": "", "why": ""}')
    with killed_before(written, *WRITES):
        rollback(root, "3")
    assert champion(root, name) == "4"
    rollback(root, None if written else "3")  # once noted, it needs no name
    assert champion(root, name) == "3"
    line = line_of(root, 3)
    assert "taken back" not in line and "champion again, for version 4" in line


def test_a_deleted_champion_has_no_way_back_but_a_named_one(root: Path, name: str) -> None:
    with registry(root) as client:
        client.delete_model_version(name, "4")
    with pytest.raises(ValueError, match=r"has no champion, .* --to VERSION"):
        rollback(root)
    with pytest.raises(ValueError, match=r"--to 4: .* has 1, 2, 3; champion is none"):
        rollback(root, "4")
    assert rollback(root, "2") == f"{name}: no champion before, champion is version 2 again"
    assert champion(root, name) == "2"
    assert "champion again" in listing(root)
