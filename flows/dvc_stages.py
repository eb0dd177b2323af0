"""DVC's stages as Prefect task runs: the order that DVC plans, each stage one `dvc repro`.

`dvc.yaml` stays the only list of stages. A new `dvc.lock` is written in the order of execution, so
the order is DVC's own; each stage is `dvc repro --single-item STAGE` in its own process, so
skipping, the run cache and the lock are DVC's as well. Stages at the front that DVC would skip are
not started: that takes a second each. Prefect adds the log, the name and the state of the others.
No retries and no result caching: a stage is deterministic, and DVC is the cache.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from logging import Logger
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from prefect import get_run_logger, task
from prefect.cache_policies import NO_CACHE
from prefect.logging.loggers import LoggingAdapter

from flows.streaming import stream

if TYPE_CHECKING:
    from dvc.stage import Stage

Outcome = Literal["ran", "unchanged", "restored"]
HINTS = (
    "To track the changes",
    "git add",
    "To enable auto staging",
    "dvc config",
    "Use `dvc push`",
)
LINES_SHOWN = 15  # of a failed stage, in the error


class StageFailed(RuntimeError):
    """A stage ended with an error; the message names it and holds its last lines."""


def planned_stages(root: Path, target: str) -> list[str]:
    """Addresses of `target` and its ancestors, in the order in which `dvc repro` visits them.

    Source: `dvc.repo.reproduce.reproduce` of DVC 3.67, less the running. Imported files
    (`NAME.dvc`) are stages to DVC and come under their path.

    For a target with fewer than half of all stages DVC walks a set, so that its order changes with
    PYTHONHASHSEED. Here the other stages are taken out of the graph first: what is left keeps the
    order of `dvc.yaml`, and that is DVC's own order for a target with half of the stages or more.
    """
    from dvc.repo import Repo
    from dvc.repo.reproduce import collect_stages, get_active_graph, plan_repro

    with Repo(str(root)) as repo:
        graph = get_active_graph(repo.index.graph)
        wanted = set(plan_repro(graph, collect_stages(repo, [target_address(root, target)])))
        graph.remove_nodes_from([stage for stage in graph if stage not in wanted])
        plan = plan_repro(graph)
        return [_named(root, stage) for stage in plan]


def up_to_date(root: Path, plan: Sequence[str]) -> list[str]:
    """The stages at the front of a plan that `dvc repro` would skip, asked in one process.

    As DVC asks it (`dvc.stage.Stage.changed`), up to the first stage that would run: what stands
    behind one that runs is only known after it. None while another DVC command is at work.
    """
    from dvc.lock import LockError
    from dvc.repo import Repo

    found: list[str] = []
    with suppress(LockError), Repo(str(root)) as repo, repo.lock:
        stages = {_named(root, stage): stage for stage in repo.index.stages}
        for name in plan:
            if stages[name].changed():
                break
            found.append(name)
    return found


def target_address(root: Path, target: str) -> str:
    """`target` of the `dvc.yaml` in `root`, whatever the current directory."""
    return f"{root / 'dvc.yaml'}:{target}"


def _named(root: Path, stage: Stage) -> str:
    relative = Path(stage.path).resolve().relative_to(root.resolve()).as_posix()
    name: str | None = getattr(stage, "name", None)
    if name is None:
        return relative
    return name if relative == "dvc.yaml" else f"{relative}:{name}"


@task(name="stage", task_run_name="{stage}", cache_policy=NO_CACHE, persist_result=False)
def run_stage(root: Path, stage: str) -> Outcome:
    """Bring one stage up to date, its lines in the run's log.

    Raises:
        StageFailed: when DVC or the stage's command ended with an error.
    """
    log = get_run_logger()
    status, lines = stream(repro_command(stage), root, lambda line: _say(log, line))
    if status:
        last = "\n".join(f"  {line}" for line in lines[-LINES_SHOWN:])
        raise StageFailed(
            f"stage {stage} failed with exit status {status}; its last lines:\n{last}"
        )
    return outcome(stage, lines)


def _say(log: Logger | LoggingAdapter, line: str) -> None:
    """Log a line, unless it is empty or one of DVC's hints about git and pushing."""
    if line and not line.strip().startswith(HINTS):
        log.info("%s", line)


def repro_command(stage: str) -> list[str]:
    """The command of one stage; it waits while another DVC command holds the repository's lock."""
    return [sys.executable, "-m", "dvc", "--wait-for-lock", "repro", "--single-item", stage]


def outcome(stage: str, lines: list[str]) -> Outcome:
    """What DVC says that it did, judged by its first line about the stage.

    A stage's own output may hold the same words, but it comes after ``Running stage``.
    """
    said: dict[str, Outcome] = {
        f"Running stage '{stage}':": "ran",
        f"Stage '{stage}' is cached - skipping run, checking out outputs": "restored",
        f"Stage '{stage}' didn't change, skipping": "unchanged",
        f"'{stage}' didn't change, skipping": "unchanged",
    }
    return next((said[line] for line in lines if line in said), "ran")
