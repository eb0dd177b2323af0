"""Hundreds of requests to `python -m tasks.apps.web`, most bad; attacks; its start and its end."""

import json
import random
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import guide_commands
import pytest
import tiny_registry
from mlflow_import import WARNINGS

pytestmark = [pytest.mark.slow, *WARNINGS]
REQUESTS = 300
FORM = "application/x-www-form-urlencoded"


class Service(NamedTuple):
    """A running process, and its address."""

    process: subprocess.Popen[str]
    address: str

    def ask(self, body: bytes | None, path: str = "", kind: str = FORM) -> tuple[int, bytes]:
        request = urllib.request.Request(self.address + path, body, {"Content-Type": kind})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()


class Body(NamedTuple):
    """A request; `rows` are in its answer, or None where it has to be refused."""

    kind: str
    data: bytes
    rows: int | None
    content_type: str = FORM


def begun(root: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "flows.cli", "serve", "--model=models:/rolecall/1", *words]
    values, pipe = tiny_registry.command_environment(root), subprocess.PIPE
    return subprocess.Popen(command, cwd=root, env=values, stdout=pipe, stderr=pipe, text=True)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tiny_registry.registered(tmp_path_factory.mktemp("root"), 1)
    (root / "dvc.yaml").touch()
    return root


@pytest.fixture(scope="module")
def service(root: Path) -> Iterator[Service]:
    process = begun(root, "--port=0")
    assert process.stdout is not None
    line = process.stdout.readline()
    begin, _, rest = line.partition(": http://")
    assert begin == "Rolecall: rolecall version 1", process.communicate()
    yield Service(process, f"http://{rest.split()[0]}")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130 and "Traceback" not in errors, errors


def form(**fields: object) -> bytes:
    return urllib.parse.urlencode(fields, errors="surrogatepass").encode()


def queries(*asked: object) -> bytes:
    return form(queries=json.dumps({f"q{number}": one for number, one in enumerate(asked)}))


def bodies(draw: random.Random) -> Iterator[Body]:
    """Yield one of each kind, with numbers and texts drawn anew."""
    count = draw.randint(1, 9)
    title = "".join(chr(draw.choice((32, 65, 101, 0x4E2D, 0x1F9D1))) for _ in range(count)) + "x"
    number = draw.choice((0, -1, 10**30, float("inf"), float("nan"), True))
    some = [{"query": title}] * count
    yield Body("good", queries(*some), count)
    yield Body("good, limits", queries(*({"query": title, "limit": n + 1} for n in range(9))), 9)
    yield Body("good, a huge limit", queries({"query": title, "limit": 10**8}), 1)
    yield Body("good, a huge title", queries({"query": title * draw.randint(10**4, 10**5)}), 1)
    yield Body("good, no letters", queries({"query": "???"}, {"query": "\U0001f35e"}), 2)
    yield Body("good, none", form(queries="{}"), 0)
    yield Body("good, many", queries(*[{"query": "nurse"}] * 500), 500)
    condition = {"pid": draw.choice(("level_1", "nothing")), "v": [1.5, title, {"id": "7"}]}
    yield Body("good, conditions", queries({"query": title, "properties": [condition]}), 1)
    yield Body("a number as query", queries({"query": number}), None)
    yield Body("good, a low limit", queries({"query": title, "limit": draw.choice((0, -5))}), 1)
    yield Body("no such strictness", queries({"query": title, "type_strict": "some"}), None)
    yield Body("null", form(queries="null"), None)
    yield Body("half of it", form(queries=json.dumps({"q": some[0]})[: draw.randint(1, 9)]), None)
    yield Body("deeply nested", form(queries="[" * 10**5 + "]" * 10**5), None)
    yield Body("a lone surrogate", form(queries='{"q": {"query": "\\ud800"}}'), None)
    yield Body("too large", b"queries=" + b"x" * (1 << 23), None)
    yield Body("nothing", b"", None)
    yield Body("bytes", draw.randbytes(count), None)
    yield Body("no such type", queries(*some), None, "text/plain")
    yield Body("ids that are none", form(extend='{"ids": [1], "properties": []}'), None)
    yield Body("extend a list", form(extend=json.dumps([title])), None)


def test_hundreds_of_requests(service: Service) -> None:
    draw, asked = random.Random(1), 0
    while asked < REQUESTS:
        for body in bodies(draw):
            status, answer = service.ask(body.data, kind=body.content_type)
            asked += 1
            if status == 200:
                assert len(json.loads(answer)) == body.rows, body
            else:
                assert 400 <= status < 500 and body.rows is None, (body.kind, status, answer)
                assert json.loads(answer)["message"], body.kind
    assert service.process.poll() is None


@pytest.mark.parametrize("command", guide_commands.commands("/normalize"))
def test_the_commands_of_the_guide(service: Service, command: str) -> None:
    """This model has no calibration, which it says of a minimum confidence."""
    answer = guide_commands.answered(command, service.address)
    if "min_confidence" in command:
        assert "this model is not calibrated" in answer["message"]
    else:
        assert answer["answers"][0]["occupation_id"]


def test_aborted_requests_leave_no_traceback(service: Service) -> None:
    """The process's errors are read when it ends: see the fixture."""
    parts = urllib.parse.urlsplit(service.address)
    host_and_port = (parts.hostname, parts.port)
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + FORM.encode()
    unfinished = head + b"\r\nContent-Length: 9999\r\n\r\nqueries="
    for sent in (head, unfinished, b"GET / HT", b"\0\xff\n\n"):
        for _ in range(5):
            with socket.create_connection(host_and_port, 60) as connection:
                connection.sendall(sent)
    many = queries(*[{"query": "nurse"}] * 1000)
    for _ in range(3):  # gone while the answer is made
        with socket.create_connection(host_and_port, 60) as connection:
            connection.sendall(head + f"\r\nContent-Length: {len(many)}\r\n\r\n".encode() + many)
    assert service.ask(None)[0] == 200


def test_a_port_in_use_is_said(root: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        run = begun(root, f"--port={taken.getsockname()[1]}")
        _, errors = run.communicate(timeout=60)
    assert run.returncode == 1 and "is in use: choose another" in errors
