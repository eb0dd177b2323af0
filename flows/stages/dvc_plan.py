"""What DVC would run for a target, in its order, and what it would skip; without running anything.

Prefect is not imported here: a command that has nothing to do should know it at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from flows.failure import Failure

if TYPE_CHECKING:
    from dvc.repo import Repo
    from dvc.stage import Stage

Outcome = Literal["ran", "unchanged", "restored"]


def planned_stages(root: Path, target: str) -> list[str]:
    """List the addresses of `target` and its ancestors in the order that `dvc repro` visits.

    Source: `dvc.repo.reproduce.reproduce` of DVC 3.67, less the running. Imported files
    (`NAME.dvc`) are stages to DVC and come under their path.

    For a target with fewer than half of all stages DVC walks a set, so that its order changes with
    PYTHONHASHSEED. Here the other stages are taken out of the graph first: what is left keeps the
    order of `dvc.yaml`, and that is DVC's own order for a target with half of the stages or more.
    """
    from dvc.repo import Repo

    with Repo(str(root)) as repo:
        return _plan(repo, root, target)


def plan_and_skipped(root: Path, target: str) -> tuple[list[str], list[str]]:
    """Return `planned_stages` and `up_to_date` of them, with DVC's graph read once."""
    from dvc.repo import Repo

    with Repo(str(root)) as repo:
        plan = _plan(repo, root, target)
        return plan, _skipped(repo, root, plan)


def up_to_date(root: Path, plan: Sequence[str]) -> list[str]:
    """List the stages at the front of a plan that `dvc repro` would skip, asked in one process.

    As DVC asks it (`dvc.stage.Stage.changed`), up to the first stage that would run: what stands
    behind one that runs is only known after it. None while another DVC command is at work.
    """
    from dvc.repo import Repo

    with Repo(str(root)) as repo:
        return _skipped(repo, root, plan)


def reasons(root: Path, target: str) -> dict[str, list[str]]:
    """Say of each planned stage, in order, what has changed for it; nothing where it is up to date.

    Raises:
        Failure: another DVC command is at work, or a file of DVC's cannot be read.
    """
    from dvc.exceptions import DvcException
    from dvc.repo import Repo

    try:
        with Repo(str(root)) as repo, repo.lock:
            stages = {_named(root, stage): stage for stage in repo.index.stages}
            plan = _plan(repo, root, target)
            return {name: list(_changes(stages[name].status())) for name in plan}
    except DvcException as error:
        raise Failure(f"DVC: {error}") from error


def _changes(
    status: Mapping[str, Sequence[str | Mapping[str, Mapping[str, Any]]]],
) -> Iterator[str]:
    """Put DVC's status of a stage in words: `FILE modified`, `NAME new`, `new command`."""
    for change in (change for changes in status.values() for change in changes):
        if isinstance(change, str):
            yield change.replace("changed command", "new command")
            continue
        for files in change.values():
            for name, what in files.items():
                if isinstance(what, str):
                    yield f"{name} {what}"
                else:  # a file of parameters: name to `modified`, `new` or `deleted`
                    yield from (f"{parameter} {how}" for parameter, how in what.items())


def _plan(repo: Repo, root: Path, target: str) -> list[str]:
    from dvc.repo.reproduce import collect_stages, get_active_graph, plan_repro

    graph = get_active_graph(repo.index.graph)
    wanted = set(plan_repro(graph, collect_stages(repo, [target_address(root, target)])))
    graph.remove_nodes_from([stage for stage in graph if stage not in wanted])
    return [_named(root, stage) for stage in plan_repro(graph)]


def _skipped(repo: Repo, root: Path, plan: Sequence[str]) -> list[str]:
    from dvc.lock import LockError

    skipped: list[str] = []
    with suppress(LockError), repo.lock:
        stages = {_named(root, stage): stage for stage in repo.index.stages}
        for name in plan:
            if stages[name].changed():
                break
            skipped.append(name)
    return skipped


def target_address(root: Path, target: str) -> str:
    """Return `target` of the `dvc.yaml` in `root`, whatever the current directory."""
    return f"{root / 'dvc.yaml'}:{target}"


def _named(root: Path, stage: Stage) -> str:
    relative = Path(stage.path).resolve().relative_to(root.resolve()).as_posix()
    name: str | None = getattr(stage, "name", None)
    if name is None:
        return relative
    return name if relative == "dvc.yaml" else f"{relative}:{name}"
