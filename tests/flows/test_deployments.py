"""The deployed flows: the due files of a watched folder, failures, and who is notified.

The owner's notification block is a webhook, whose port is the test's own.
"""

import json
import os
import shlex
import shutil
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from queue import Queue
from typing import Any

import fsspec
import pytest
import tiny_registry
from background import ROOT, web_server
from mlflow_import import WARNINGS
from prefect_beside import ENDED, Beside, page, server

from flows import deployments as module
from flows.deployments import due_sources
from flows.errors import Failure
from tasks.apps.bulk.inspection import files_at, state_of
from tasks.io.bulk_output import manifest_of

OLD = 3600
MANIFEST: dict[str, Any] = {
    **{"rows": 2417, "parts": [{}], "answered": 2417, "abstained": {}, "refused": 0},
    "result": {"model": "models:/toy/1", "model_version": "1", "taxonomy_version": "abc"},
}


@pytest.fixture
def inbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A CSV file and a folder of Parquet, an hour old: a file's node cannot be dated back."""
    monkeypatch.setattr(module.time, "time", lambda clock=time.time: clock() + OLD)
    (tmp_path / "inbox" / "board").mkdir(parents=True)
    for name in ("titles.csv", "board/a.parquet", "board/b.parquet"):
        (tmp_path / "inbox" / name).write_text("title\nnurse\n")
    return tmp_path / "inbox"


def made(source: Path, output: Path, rows: int = 1) -> None:
    """Write the manifest of a bulk run, as far as it is read here."""
    files = tuple(files_at(*fsspec.core.url_to_fs(str(source)), str(source)))
    manifest = {"result": {"state": state_of(files), "model": "m"}, "rows": rows}
    (output if source.is_dir() else output.parent).mkdir(parents=True, exist_ok=True)
    if not source.is_dir():
        output.write_text("answers")
    manifest_of(output).write_text(json.dumps(manifest))


def looked(inbox: Path, seconds: float = 60) -> tuple[list[tuple[Path, Path]], *tuple[Any, ...]]:
    """Return the due sources, the faults of refused ones, and the names of waiting ones."""
    refused, waiting = list[str](), list[str]()
    outbox = inbox.parent / "outbox"
    return due_sources(inbox, outbox, seconds, refused.append, waiting.append), refused, waiting


def due(inbox: Path) -> list[tuple[Path, Path]]:
    return looked(inbox)[0]


def names(inbox: Path, seconds: float = 60) -> list[str]:
    return [output.name for _, output in looked(inbox, seconds)[0]]


def test_all_that_is_new_is_due_a_file_as_a_file_and_a_folder_as_a_folder(inbox: Path) -> None:
    for name in ("a.tsv", "b.PQ", "c.csv.gz", "D.CSV", "board.csv", "README.md"):
        (inbox / name).write_text("title\n")
    (inbox / "e.csv").mkdir()
    (inbox / "e.csv/e.csv").write_text("title\n")
    assert sorted(names(inbox)) == [
        *("D.CSV", "a.tsv.csv", "b.PQ.parquet", "board", "board.csv", "c.csv.gz.csv"),
        *("e.csv.parts", "titles.csv"),
    ]


def test_what_must_not_be_opened_is_named_and_stops_no_other(inbox: Path) -> None:
    """A pipe and a device would never end; links would give out any file."""
    outside = inbox.parent / "secret.csv"
    outside.write_text("title\nsecret\n")
    os.mkfifo(inbox / "pipe.csv")
    (inbox / "zero.csv").symlink_to("/dev/zero")
    (inbox / "secret.csv").symlink_to(outside)
    (inbox / "gone.csv").symlink_to(inbox / "nowhere.csv")
    (inbox / "everything").symlink_to(inbox.parent)
    (inbox / "sub").mkdir()
    (inbox / "sub/passwd.csv").symlink_to("/etc/passwd")
    (inbox / "sub/good.csv").write_text("title\n")
    (inbox / "same.csv").symlink_to(inbox / "titles.csv")
    sources, refused, waiting = looked(inbox)
    assert not waiting
    assert [source.name for source, _ in sources] == ["board", "same.csv", "titles.csv"]
    assert len(refused) == 6
    out = ("everything", "/secret.csv", "sub/passwd.csv", "zero.csv")
    texts = [f"{name} is a link that leads out of" for name in out]
    texts += [
        "gone.csv is a link to nothing",
        "pipe.csv is a pipe: copy the file itself, or take it out",
    ]
    assert [text for text in texts if text not in "\n".join(refused)] == []


def test_a_replaced_file_is_due_once_under_a_name_of_its_own(inbox: Path) -> None:
    for source, output in due(inbox):
        made(source, output)
    assert names(inbox) == []
    (inbox / "titles.csv").write_text("title\nnurse\ncook\n")
    (again,) = due(inbox)
    name, state, ending = again[1].name.split(".")
    assert (name, ending) == ("titles", "csv") and len(state) == 16
    assert [again] == due(inbox)
    made(*again)
    assert names(inbox) == []
    (inbox / "board/c.parquet").write_text("x")
    (anew,) = names(inbox)
    assert anew.startswith("board.")


def test_a_file_that_is_being_written_waits_and_is_named(inbox: Path) -> None:
    """By its name, or because it changed a moment ago, even if it brings an old date along."""
    for name in (".hidden.csv", "new.csv.part", "_own.csv"):
        (inbox / name).write_text("title\n")
    (inbox / "board/c.parquet.tmp").write_text("half")
    assert (names(inbox), looked(inbox)[2]) == (["titles.csv"], ["board"])
    (inbox / "board/c.parquet.tmp").unlink()
    os.utime(inbox / "titles.csv", (0, 0))
    assert looked(inbox, OLD + 60) == ([], [], ["board", "titles.csv"])
    (inbox / "empty").mkdir()
    assert (names(inbox), looked(inbox)[2]) == (["board", "titles.csv"], [])


def test_an_output_is_completed_by_the_model_that_began_it(inbox: Path) -> None:
    output = inbox.parent / "outbox/titles.csv"
    assert module._model(output, "models:/toy@champion") == "models:/toy@champion"
    plan = inbox.parent / "outbox/titles.csv.unfinished/plan.json"
    plan.parent.mkdir(parents=True)
    plan.write_text(json.dumps({"model": "models:/toy/3"}))
    assert module._model(output, "models:/toy@champion") == "models:/toy/3"


def test_folders_that_cannot_be_meant_are_refused(inbox: Path) -> None:
    with pytest.raises(Failure, match=r"no folder .*nowhere to watch: make it, or name"):
        due(inbox.parent / "nowhere")
    with pytest.raises(Failure, match="name another outbox"):
        due_sources(inbox, inbox / "answers", 60, print, print)


@pytest.mark.slow
def test_one_bad_file_stops_no_other_and_is_named_at_the_end(
    inbox: Path, prefect_server: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, str, Path, dict[str, Any]]] = []

    def normalized(
        source: Path, output: Path, model: str, root: Path, options: dict[str, Any]
    ) -> dict[str, Any]:
        calls.append((source.name, model, root, options))
        if source.name == "board":
            raise ValueError("a.parquet cannot be read")
        made(source, output)
        return MANIFEST

    monkeypatch.setattr(module, "_normalized", normalized)
    monkeypatch.chdir(inbox.parent)
    Path("params.yaml").write_text("register: {name: toy}\n")
    message = r"^1 of inbox not normalized\nboard: a\.parquet cannot be read$"
    with pytest.raises(Failure, match=message):
        module.normalize_folder(options={"top_k": 2})
    own = ("models:/toy@champion", Path.cwd(), {"top_k": 2})
    assert calls == [("board", *own), ("titles.csv", *own)]
    assert "| titles.csv | 2,417 |" in page("normalize-folder")
    assert "    board: a.parquet cannot be read\n" in page("failed-normalize-folder")

    monkeypatch.setattr(module, "_normalized", lambda *arguments: MANIFEST)
    assert module.normalize_folder() == {"board": 2417}


SECONDS = 400  # for all of it; two minutes on two busy cores
RUN = ("prefect", "deployment", "run")
CHOSEN = {"model": "models:/rolecall/1", "profile": "sample", "quiet_seconds": 0}
TYPED = tuple(word for name, value in CHOSEN.items() for word in ("-p", f"{name}={value}"))
BLOCK = """
from prefect.blocks.notifications import CustomWebhookNotificationBlock
message = {{"subject": "{{{{subject}}}}", "body": "{{{{body}}}}"}}
CustomWebhookNotificationBlock(name="team", url="{url}", json_data=message).save("team")
"""
KILLED = """
import os
from prefect import flow
from flows.runs import leave_page
@flow(name="retrain", on_failure=[leave_page], on_crashed=[leave_page])
def killed(profile: str = "") -> None:
    os.kill(os.getpid(), 9)
"""


@pytest.fixture
def messages() -> Iterator[tuple[str, Queue[dict[str, str]]]]:
    """A port that takes messages, and what has come."""
    came: Queue[dict[str, str]] = Queue()

    def do_POST(request: BaseHTTPRequestHandler) -> None:
        came.put(json.loads(request.rfile.read(int(request.headers["Content-Length"]))))
        request.send_response(204)
        request.end_headers()

    with web_server(do_POST) as port:
        yield f"http://127.0.0.1:{port}/", came


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A clone as far as bulk runs need one: flows, parameters, and a registry with one version."""
    root = tiny_registry.registered(tmp_path / "clone", 1)
    shutil.copytree(ROOT / "flows", root / "flows", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "prefect.yaml", root)
    (root / "flows/killed.py").write_text(KILLED)
    (root / "inbox").mkdir()
    (root / "inbox/titles.csv").write_text("id,title\n1,nurse\n2,\n3,bread maker\n")
    (root / "inbox/bad.csv").write_text("which,of\nthese,two\n")
    os.mkfifo(root / "inbox/pipe.csv")
    (root / "inbox/passwd.csv").symlink_to("/etc/passwd")
    return root


@pytest.mark.slow
@pytest.mark.filterwarnings(*(mark.args[0] for mark in WARNINGS))
def test_a_failure_is_reported_and_files_in_the_inbox_are_answered(
    root: Path, tmp_path: Path, messages: tuple[str, Queue[dict[str, str]]]
) -> None:
    url, came = messages
    environment = {"GIT_CEILING_DIRECTORIES": str(tmp_path)}
    with server(root, tmp_path, SECONDS, **environment) as beside:
        beside.prefect("deploy", "--all")
        beside.run(sys.executable, "-c", BLOCK.format(url=url))
        beside.run(sys.executable, "-m", "flows.cli", "notify", "custom-webhook/team")
        daily = beside.deployment("daily")
        with beside.worker():
            failed = ended(beside, daily, CHOSEN)
            assert failed["state_type"] == "FAILED", beside.logs()
            answers = root / "outbox/titles.csv.manifest.json"
            assert json.loads(answers.read_text())["rows"] == 3
            message = came.get(timeout=SECONDS)
            assert message["subject"] == "rolecall: normalize-folder Failed"
            assert "bad.csv: " in message["body"]
            assert "pipe.csv is a pipe" in message["body"]
            assert "passwd.csv is a link that leads out of" in message["body"]
            text = left(beside, "failed-normalize-folder", failed)
            assert "which column holds the titles?" in text
            assert text.endswith(f"\n    {shlex.join([*RUN, 'normalize-folder/daily', *TYPED])}")

            for name in ("bad.csv", "pipe.csv", "passwd.csv"):
                (root / "inbox" / name).unlink()
            stamp = answers.stat().st_mtime_ns
            done = ended(beside, daily, CHOSEN)
            assert done["state_type"] == "COMPLETED", beside.logs()
            assert answers.stat().st_mtime_ns == stamp
            outputs = sorted(path.name for path in (root / "outbox").iterdir())
            assert outputs == ["titles.csv", "titles.csv.manifest.json"]

            beside.prefect("deploy", "flows/killed.py:killed", "-n", "killed", "-p", "rolecall")
            killed = ended(beside, beside.deployment("killed"), {})
            assert killed["state_type"] == "CRASHED", beside.logs()
            message = came.get(timeout=SECONDS)
            assert message["subject"] == "rolecall: retrain Crashed"
            text = beside.until(lambda: left(beside, "failed-retrain", killed))
            assert text.startswith("# retrain: crashed\n")
            assert text.endswith(f"\n    {shlex.join([*RUN, 'retrain/killed'])}")
        assert came.empty()


def ended(
    beside: Beside, deployment: dict[str, Any], parameters: dict[str, object]
) -> dict[str, Any]:
    """Run a deployment and return its run when it has come to an end."""
    path = f"/deployments/{deployment['id']}/create_flow_run"
    begun = beside.post(path, {"parameters": parameters})["id"]
    runs = beside.until(lambda: [r for r in beside.runs(deployment, ENDED) if r["id"] == begun])
    return dict(runs[0])


def left(beside: Beside, key: str, run: dict[str, Any]) -> str:
    """Return the page that a run has left, if it has."""
    pages = beside.post("/artifacts/filter", {"artifacts": {"key": {"any_": [key]}}})
    return next((str(one["data"]) for one in pages if one["flow_run_id"] == run["id"]), "")
