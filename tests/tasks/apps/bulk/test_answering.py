"""Titles are answered beside this thread: in threads, or in processes that share the model."""

import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from multiprocessing import active_children
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mlflow
import pyarrow as pa
import pytest

from tasks.apps.bulk import answering
from tasks.apps.bulk.answering import Answering

SCHEMA = pa.schema([("loud", pa.string()), ("process", pa.int64())])


def answer(titles: Sequence[str | None], params: Mapping[str, Any] | None = None) -> pa.Table:
    """Shout; a title of "die" ends the process that answers."""
    if "die" in titles:
        os.kill(os.getpid(), signal.SIGKILL)
    if params and "k" not in params:
        raise ValueError(f"unknown {sorted(params)}")
    loud = [title and title.upper() for title in titles]
    return pa.table([loud, [os.getpid()] * len(titles)], SCHEMA)


@pytest.fixture(autouse=True)
def served(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load a model that shouts, in batches of three titles."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # which is set anew, and then as it was
    model = SimpleNamespace(unwrap_python_model=lambda: SimpleNamespace(answer=answer))
    monkeypatch.setattr(mlflow.pyfunc, "load_model", lambda *args, **kwargs: model)
    monkeypatch.setattr(answering, "BATCH", 3)


@pytest.mark.parametrize("many", [False, True])
def test_titles_are_answered_in_their_order(many: bool) -> None:
    with closing(Answering(Path(), 2, many=many)) as ask:
        waiting = [
            ask({"k": 1}, titles) for titles in (["a", "b", None, "c", "d", "e", "f"], ["g"])
        ]
        first, second = (wait() for wait in waiting)
        assert ask.schema == SCHEMA
        with pytest.raises(ValueError, match="unknown"):
            ask({"j": 1}, ["a"])()
    assert first["loud"].to_pylist() == ["A", "B", None, "C", "D", "E", "F"]
    assert second["loud"].to_pylist() == ["G"]
    here = {*first["process"].to_pylist(), *second["process"].to_pylist()} == {os.getpid()}
    assert here != (many and sys.platform == "linux")


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")
def test_a_process_that_is_ended_from_outside_is_an_error() -> None:
    with closing(Answering(Path(), 2)) as ask, pytest.raises(BrokenProcessPool):
        ask({}, ["die"])()
    assert not active_children()


def test_a_model_that_answers_no_titles_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = SimpleNamespace(unwrap_python_model=lambda: SimpleNamespace(predict=Callable))
    monkeypatch.setattr(mlflow.pyfunc, "load_model", lambda *args, **kwargs: model)
    with pytest.raises(ValueError, match="run `rolecall retrain`"):
        Answering(Path())
