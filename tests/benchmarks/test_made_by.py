"""Hashes of what made figures: what changes them, what does not, and what pages say."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from benchmarks.pages import made_by as module
from benchmarks.pages.made_by import made_by, stale
from benchmarks.results import Line
from benchmarks.study import study
from models.network.kinds import kinds
from tasks.files.command import ROOT

ZOO = "python -m benchmarks zoo --dataset sample --encoders {} --losses margin"


@pytest.fixture
def touched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths of modules that are taken to have changed since."""
    names: list[str] = []

    def code_hash(path: Path) -> str:
        return str(path.relative_to(ROOT).as_posix() in names)

    module._code.cache_clear()
    monkeypatch.setattr(module, "_code_hash", code_hash)
    return names


def code(name: str, command: str, touched: list[str], *paths: str) -> str:
    touched[:] = paths
    module._code.cache_clear()
    return made_by(study(name), "sample", command)["code"]


def test_code_is_what_computes_and_the_kinds_that_are_named(touched: list[str]) -> None:
    command = ZOO.format("ngram_bag")
    before = code("gate", command, touched)
    for path in (
        "models/training/loop.py",
        "models/encoders/ngram_bag.py",
        "tasks/evaluation/ranking.py",
        "benchmarks/studies/gate/measure.py",
    ):
        assert code("gate", command, touched, path) != before, path
    for path in (
        "models/encoders/char_lstm.py",
        "benchmarks/results.py",
        "benchmarks/studies/zoo/measure.py",
        "tasks/reporting/page.py",
    ):
        assert code("gate", command, touched, path) == before, path
    other = ZOO.format("char_lstm")
    assert code("gate", other, touched, "models/encoders/char_lstm.py") != code(
        "gate", other, touched
    )
    assert "char_lstm" in kinds("encoders")


def test_data_is_what_is_needed_and_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    one = study("zoo")

    def data(**changes: str) -> str:
        outs = {"data/pairs/3": "a", "data/split/queries.parquet": "b", "data/report": "c"}
        listed = [{"path": path, "md5": md5} for path, md5 in {**outs, **changes}.items()]
        lock = tmp_path / "dvc.lock"
        lock.write_text(yaml.safe_dump({"stages": {"one": {"outs": listed}}}), encoding="utf-8")
        module._locked.cache_clear()
        return made_by(one, "sample", "")["data"]

    before = data()
    assert data(**{"data/report": "x"}) == before
    assert data(**{"data/pairs/3": "x"}) != before
    assert data(**{"data/split/queries.parquet": "x"}) != before
    assert made_by(one, "esco", "")["data"] == ""  # no workspace


def test_stale_is_what_has_another_hash() -> None:
    """The data of the sample alone is compared."""
    one, command = study("zoo"), ZOO.format("ngram_bag")

    def run(dataset: str, **changes: str) -> Line:
        return {"command": command, **made_by(one, dataset, command), **changes}

    assert stale(one, run("sample"), ["sample"]) == ""
    assert stale(one, run("sample", code="x", data="y"), ["sample"]) == "code, data"
    assert stale(one, run("esco", data="y"), ["esco"]) == ""
    assert stale(one, run("esco", code="x"), ["esco"]) == "code"
    assert stale(one, run("esco", code=""), ["esco"]) == "not recorded"
