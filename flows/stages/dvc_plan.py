"""The stages that DVC would visit for a target, in its order, and those that it would skip.

Nothing is run. Prefect is not imported, so that a command with nothing to do ends at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from flows.failure import Failure
from flows.stages.special_files import keep_out_special_files

if TYPE_CHECKING:
    from dvc.repo import Repo
    from dvc.stage import Stage

Outcome = Literal["ran", "unchanged", "restored"]
Status = Mapping[str, Sequence[str | Mapping[str, Mapping[str, Any]]]]  # of DVC: stage -> changes


def plan_and_skipped(root: Path, target: str) -> tuple[list[str], list[str]]:
    """Return the stages that `dvc repro` visits, and those at their front that it would skip.

    The second list ends at the first stage that would run (`dvc.stage.Stage.changed`), because the
    stages behind it depend on its outcome. It is empty while another DVC command is at work.
    """
    from dvc.lock import LockError
    from dvc.repo import Repo

    skipped: list[str] = []
    with Repo(str(root)) as repo:
        plan = _plan(repo, root, target)
        with suppress(LockError), repo.lock:
            for name, stage in plan.items():
                if stage.changed():
                    break
                skipped.append(name)
    return list(plan), skipped


def reasons(root: Path, target: str) -> dict[str, list[str]]:
    """List the changes behind each planned stage, in order; nothing if it is up to date.

    Raises:
        Failure: another DVC command is at work, or DVC cannot read one of its files.
    """
    from dvc.exceptions import DvcException
    from dvc.repo import Repo

    try:
        with Repo(str(root)) as repo, repo.lock:
            plan = _plan(repo, root, target)
            return {name: list(_changes(stage.status())) for name, stage in plan.items()}
    except DvcException as error:
        raise Failure(f"DVC: {error}") from error


def _changes(status: Status) -> Iterator[str]:
    """Describe DVC's status of a stage: `FILE modified`, `NAME new`, `new command`."""
    for change in (change for changes in status.values() for change in changes):
        if isinstance(change, str):
            yield change.replace("changed command", "new command")
            continue
        for files in change.values():
            for name, state in files.items():
                if isinstance(state, str):
                    yield f"{name} {state}"
                else:  # a file of parameters: name to `modified`, `new` or `deleted`
                    yield from (f"{parameter} {how}" for parameter, how in state.items())


def _plan(repo: Repo, root: Path, target: str) -> dict[str, Stage]:
    """Return `target` and its ancestors by their addresses, in the order that `dvc repro` visits.

    Source: `dvc.repo.reproduce.reproduce` of DVC 3.67, without the running. Imported files
    (`NAME.dvc`) are stages to DVC and come under their path.

    For a target with fewer than half of all stages DVC's order changes with PYTHONHASHSEED. Here
    the other stages are first removed from the graph: the rest keeps the order of `dvc.yaml`.
    """
    from dvc.repo.reproduce import collect_stages, get_active_graph, plan_repro

    keep_out_special_files(root)
    graph = get_active_graph(repo.index.graph)
    needed = set(plan_repro(graph, collect_stages(repo, [target_address(root, target)])))
    graph.remove_nodes_from([stage for stage in graph if stage not in needed])
    return {_address(root, stage): stage for stage in plan_repro(graph)}


def target_address(root: Path, target: str) -> str:
    """Return `target` of the `dvc.yaml` in `root`, whatever the current directory."""
    return f"{root / 'dvc.yaml'}:{target}"


def _address(root: Path, stage: Stage) -> str:
    relative = Path(stage.path).resolve().relative_to(root.resolve()).as_posix()
    name: str | None = getattr(stage, "name", None)
    if name is None:
        return relative
    return name if relative == "dvc.yaml" else f"{relative}:{name}"
