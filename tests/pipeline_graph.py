"""The stages of a `dvc.yaml` as DVC has them, and what each reads of the others."""

import warnings
from pathlib import Path
from typing import NamedTuple

import networkx as nx
from dvc.repo import Repo


class Resolved(NamedTuple):
    """A stage with its variables replaced."""

    name: str
    deps: list[str]
    outs: list[str]

    @property
    def kind(self) -> str:
        """Its name in `dvc.yaml`."""
        return self.name.partition("@")[0]


class Pipeline(NamedTuple):
    """All stages, and a graph of their names, each pointing at those that it reads."""

    stages: list[Resolved]
    graph: nx.DiGraph

    def all_of(self, kind: str) -> list[Resolved]:
        return [stage for stage in self.stages if stage.kind == kind]

    def behind(self, *stages: str) -> set[str]:
        """All that these stages depend on, themselves included."""
        return set(stages).union(*(nx.descendants(self.graph, stage) for stage in stages))


def read_pipeline(root: Path) -> Pipeline:
    """Read `dvc.yaml` as DVC does, which refuses a circle here."""
    with Repo(str(root)) as repo, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of pygtrie, which DVC uses
        graph = repo.index.graph
        named = {stage: getattr(stage, "name", stage.path_in_repo) for stage in graph}
        resolved = [
            Resolved(
                name,
                [dep.def_path for dep in stage.deps if dep.def_path != "params.yaml"],
                [out.def_path for out in stage.outs],
            )
            for stage, name in named.items()
        ]
        return Pipeline(resolved, nx.relabel_nodes(graph, named))


def module_of(stage: str, root: Path) -> str:
    """The module that `python -m` runs for a stage: `STAGE.py`, or `STAGE/stage.py`."""
    folders = ("tasks/pipeline", "tasks/papers", "tasks/papers/similarity")
    names = [f"{folder}/{stage}{end}" for folder in folders for end in ("", "/stage")]
    return next(name for name in names if (root / f"{name}.py").is_file()).replace("/", ".")
