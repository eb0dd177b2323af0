"""A real Prefect server and worker beside a test, set to look often; tests use its HTTP port."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from background import free_port, ran, running

from flows.environment import DEFAULTS

PREFECT = (sys.executable, "-m", "prefect")
FAST = {
    "PREFECT_SERVER_SERVICES_SCHEDULER_LOOP_SECONDS": "1",
    "PREFECT_SERVER_SERVICES_SCHEDULER_DEPLOYMENT_LOOP_SECONDS": "1",
    "PREFECT_WORKER_QUERY_SECONDS": "1",
    "PREFECT_WORKER_PREFETCH_SECONDS": "1",
}
ENDED = ["COMPLETED", "FAILED", "CRASHED", "CANCELLED"]


@dataclass(frozen=True)
class Beside:
    """A server that is up."""

    root: Path  # a clone, where its commands run
    folder: Path  # for its database and what its processes say
    environment: dict[str, str]
    client: httpx.Client
    deadline: float  # of all waiting, a time of the monotonic clock

    def prefect(self, *arguments: str) -> str:
        """Run a command of Prefect's that must succeed."""
        return self.run(*PREFECT, "--no-prompt", *arguments)

    def run(self, *command: str) -> str:
        done = ran(self.root, *command, environment=self.environment)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}\n{self.logs()}"
        return done.stdout

    @contextmanager
    def worker(self) -> Iterator[None]:
        """Let a worker of the pool `rolecall` run for the time of the block."""
        worker = [*PREFECT, "worker", "start", "--pool", "rolecall", "--type", "process"]
        log = self.folder / "worker.log"
        with running(worker, self.folder, self.environment, log):
            yield

    def post(self, path: str, body: Any) -> Any:
        """Post, again while SQLite is busy, as Prefect's own client does."""
        answer = self.client.post(path, json=body)
        while answer.status_code == httpx.codes.SERVICE_UNAVAILABLE:
            assert time.monotonic() < self.deadline, self.logs()
            time.sleep(0.5)
            answer = self.client.post(path, json=body)
        return answer.raise_for_status().json()

    def deployment(self, name: str) -> dict[str, Any]:
        matches: list[dict[str, Any]] = self.post("/deployments/filter", {})
        return next(one for one in matches if one["name"] == name)

    def runs(self, deployment: dict[str, Any], states: list[str]) -> list[dict[str, Any]]:
        """Return a deployment's flow runs of some types of states."""
        chosen = {"flow_runs": {"state": {"type": {"any_": states}}}}
        chosen |= {"deployments": {"id": {"any_": [deployment["id"]]}}}
        matches: list[dict[str, Any]] = self.post("/flow_runs/filter", chosen)
        return matches

    def until(self, look: Callable[[], Any]) -> Any:
        """Wait for the first true answer of `look`, tried four times a second."""
        while not (answer := look()):
            assert time.monotonic() < self.deadline, f"not in time\n{self.logs()}"
            time.sleep(0.25)
        return answer

    def logs(self) -> str:
        """Return the logs of server and worker, for a failure's message."""
        return "\n".join(f"{p}\n{p.read_text()[-6000:]}" for p in self.folder.glob("*.log"))


@contextmanager
def server(root: Path, folder: Path, seconds: float, **environment: str) -> Iterator[Beside]:
    """Start one, whose waiting ends after some seconds, and make its work pool."""
    deadline, port = time.monotonic() + seconds, free_port()
    api = f"http://127.0.0.1:{port}/api"
    quiet = {k: v for k, v in os.environ.items() if not k.startswith("PREFECT_")} | DEFAULTS | FAST
    own = {"PREFECT_HOME": str(folder / "prefect"), "PREFECT_API_URL": api}
    address = ["--host", "127.0.0.1", "--port", str(port), "--no-ui"]
    command = [*PREFECT, "server", "start", *address]
    with (
        httpx.Client(base_url=api, timeout=20, trust_env=False) as client,
        running(command, folder, quiet | own, folder / "server.log"),
    ):
        beside = Beside(root, folder, quiet | own | environment, client, deadline)
        beside.until(lambda: healthy(client))
        beside.prefect("work-pool", "create", "rolecall", "--type", "process")
        yield beside


def page(key: str, field: str = "data") -> str:
    """Return a field of the newest artifact of this key on the test server."""
    from prefect.artifacts import Artifact

    artifact = Artifact.get(key)
    assert artifact is not None
    return str(getattr(artifact, field))


def healthy(client: httpx.Client) -> bool:
    try:
        return client.get("/health").is_success
    except httpx.TransportError:
        return False
