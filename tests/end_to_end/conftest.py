"""Clones for the end-to-end tests: the repository as it is, and one whose pipeline is small."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from clones import LONGER, OTHER, THREADS, Clone, fresh_clone
from filelock import FileLock


def dotted(tree: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield `a.b` for a value of `b` in the section `a`."""
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from dotted(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make one for all clones: Prefect takes ten seconds to set up its database."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def small_source(tmp_path_factory: pytest.TempPathFactory, home: Path) -> Clone:
    """Clone with the profile `quick`, lengthened, as defaults; nothing has run. Read only."""
    clone = fresh_clone(tmp_path_factory.mktemp("small_source"), home)
    clone.edit("profiles/quick.yaml", {f"train.{name}": value for name, value in LONGER.items()})
    quick = yaml.safe_load((clone.root / "profiles/quick.yaml").read_text(encoding="utf-8"))
    clone.edit("params.yaml", {**dict(dotted(quick)), "register.name": "rolecall"})
    (clone.root / "dvc.lock").unlink(missing_ok=True)
    clone.git("add", "--all")
    clone.git("commit", "--quiet", "--message=small")
    return clone


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Return the folder of what all workers share, because it takes minutes."""
    base = tmp_path_factory.getbasetemp()
    return base if worker_id == "master" else base.parent


@pytest.fixture(scope="session")
def small(small_source: Clone, home: Path, shared: Path) -> Clone:
    """Copy it after a bare `dvc repro report`, its dvc.lock committed. Not to be written to."""
    clone = Clone(shared / "small/clone", home)
    with FileLock(shared / "small.lock"):
        if not (shared / "small/done").exists():
            small_source.copied(shared / "small")
            clone.dvc("repro", "report", **dict.fromkeys(THREADS, "2"))
            clone.git("add", "--all")
            clone.git("commit", "--quiet", "--message=dvc.lock")
            (shared / "small/done").touch()
    return clone


@pytest.fixture(scope="session")
def retrained(small_source: Clone, home: Path, shared: Path) -> tuple[Clone, str]:
    """Copy it after `make retrain` elsewhere than `small`, under `OTHER`; what that printed."""
    clone, printed = Clone(shared / "else where/clone", home), shared / "else where/printed.txt"
    with FileLock(shared / "retrained.lock"):
        if not printed.exists():
            small_source.copied(shared / "else where")
            (clone.root / ".venv").mkdir()
            (clone.root / ".venv/bin").symlink_to(Path(sys.prefix) / "bin")
            for done in ("installed", "installed-tools"):
                (clone.root / ".venv" / done).touch()
            text = clone.run("make", "retrain", **OTHER, **dict.fromkeys(THREADS, "1"))
            printed.write_text(text, encoding="utf-8")
    return clone, printed.read_text(encoding="utf-8")
