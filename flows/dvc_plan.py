"""The plan of DVC for a target: its stages in DVC's order, those that are up to date, and why.

Nothing is run. DVC opens whatever lies in a folder to hash it, and would wait at a pipe for ever.
So in a folder that people fill, such as `feedback/`, pipes, devices and links that lead out are
left out by a `.dvcignore`, also of a bare `dvc repro`. In a folder of data they end the command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import yaml

from flows.errors import Failure, first_lines
from tasks.io.regular_files import boundary, file_faults

if TYPE_CHECKING:
    from dvc.repo import Repo
    from dvc.stage import Stage

Outcome = Literal["ran", "unchanged", "restored"]
Status = Mapping[str, Sequence[str | Mapping[str, Mapping[str, Any]]]]  # of DVC: stage -> changes
TARGET = "report"  # of a retraining
IGNORED = ".dvcignore"
HEAD = f"# rolecall writes this file: DVC must not open these\n/{IGNORED}\n"


def plan_and_skipped(root: Path, target: str) -> tuple[list[str], list[str]]:
    """Return the stages that `dvc repro` visits, and, if DVC is free, the first that it skips."""
    from dvc.lock import LockError
    from dvc.repo import Repo

    skipped = list[str]()
    with Repo(str(root)) as repo:
        plan = _plan(repo, root, target)
        with suppress(LockError), repo.lock:
            skipped += takewhile(lambda name: not plan[name].changed(), plan)
    return list(plan), skipped


def reasons(root: Path, target: str) -> dict[str, list[str]]:
    """List the changes behind each planned stage, in order; nothing if it is up to date.

    A Failure says that another DVC command is at work, or that DVC cannot read one of its files.
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
    for change in chain.from_iterable(status.values()):
        if isinstance(change, str):
            yield change.replace("changed command", "new command")
            continue
        for name, state in chain.from_iterable(files.items() for files in change.values()):
            # of a file of parameters: name to `modified`, `new` or `deleted`
            states = {name: state} if isinstance(state, str) else state
            yield from (f"{changed} {how}" for changed, how in states.items())


def _plan(repo: Repo, root: Path, target: str) -> dict[str, Stage]:
    """Return `target` and its ancestors by their addresses, in the order that `dvc repro` visits.

    Source: `dvc.repo.reproduce.reproduce` of DVC 3.67. Imported files (`NAME.dvc`) are stages to
    DVC. For a target with fewer than half of all stages its order changes with PYTHONHASHSEED; here
    the other stages are first removed from the graph, and the rest keeps the order of `dvc.yaml`.
    """
    from dvc.repo.reproduce import collect_stages, get_active_graph, plan_repro

    keep_out_special_files(root)
    graph = get_active_graph(repo.index.graph)
    address = f"{root / 'dvc.yaml'}:{target}"  # whatever the current directory
    needed = set(plan_repro(graph, collect_stages(repo, [address])))
    graph.remove_nodes_from([stage for stage in graph if stage not in needed])
    return {_address(root, stage): stage for stage in plan_repro(graph)}


def _address(root: Path, stage: Stage) -> str:
    relative = Path(stage.path).resolve().relative_to(root.resolve()).as_posix()
    name: str = getattr(stage, "name", "")
    return name if relative == "dvc.yaml" else f"{relative}:{name}".removesuffix(":")


def keep_out_special_files(root: Path) -> list[str]:
    """Return a warning for each file left out; Failure if data, or a folder outside, hold one."""
    refused, left_out = list[str](), list[str]()
    for name in _named_folders(root / "params.yaml"):
        folder, within = root / name, boundary(Path(name))
        if within and folder.is_dir() and root.resolve() in folder.resolve().parents:
            faults = dict(file_faults(folder, folder))
            _ignore(folder, [path.relative_to(folder).as_posix() for path in faults])
            left_out += [f"warning: {fault}: not read" for fault in faults.values()]
        else:
            refused += dict(file_faults(folder, within and folder)).values()
    if refused:
        advice = "take them out, or put the file itself there"
        raise Failure("\n".join([*first_lines(refused), advice]))
    return first_lines(left_out)


def _ignore(folder: Path, names: Sequence[str]) -> None:
    """Let DVC see none of `names`, and not this list itself, which it would refuse."""
    file = folder / IGNORED
    if names:
        content = (HEAD + "".join(f"/{pattern(name)}\n" for name in names)).encode()
        if not (file.is_file() and file.read_bytes() == content):
            partial = file.with_name(f"{IGNORED}.partial")
            partial.write_bytes(content)
            partial.replace(file)
    elif file.is_file() and file.read_bytes().startswith(HEAD.encode()):
        file.unlink()


def pattern(name: str) -> str:
    """Return the line of a `.dvcignore` that means a name; `?` is what no line can hold."""

    def escaped(sign: re.Match[str]) -> str:
        if sign[0] == " ":  # DVC strips the line
            return "[ ]"
        return f"\\{sign[0]}" if sign[0].isprintable() else "?"

    return re.sub(r"[^\w./-]", escaped, name)


def _named_folders(params: Path) -> list[str]:
    """Return the values of `folder`; DVC itself reports a file that is missing or no YAML."""
    try:
        content = yaml.safe_load(params.read_text(encoding="utf-8"))
    except (FileNotFoundError, yaml.YAMLError):
        return []
    sections = [*content.values()] if isinstance(content, dict) else []
    names = [section.get("folder") for section in sections if isinstance(section, dict)]
    return [name for name in dict.fromkeys(names) if isinstance(name, str)]
