"""The flow `reproduce`: DVC's stages of one track's target, its page of results, a push.

`track` of `params.yaml` names the track: Table 3 of the titles, or the similarity of scored pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from prefect import flow
from prefect.artifacts import create_markdown_artifact

from flows import results
from flows.dvc_plan import Outcome
from flows.environment import read_params
from flows.errors import Failure
from flows.runs import leave_page, run_stages, step
from flows.stages import push
from flows.workspace import prepare
from tasks.io.command import markdown_table

TRACKS = {  # target, whose last stage writes `data/TARGET/TARGET.md`, and title
    "titles": ("table3", "Table 3 and its effects"),
    "similarity": ("similarity", "Similarity of scored pairs"),
}


@dataclass(frozen=True)
class Reproduction:
    """The outcome of one run; `stages` in the order in which they ran."""

    folder: Path  # of the tables
    stages: dict[str, Outcome]
    pushed: bool

    @property
    def page(self) -> str:
        """The tables, as the target's last stage wrote them."""
        return (self.folder / f"{self.folder.name}.md").read_text(encoding="utf-8")


@flow(name="reproduce", log_prints=True, on_failure=[leave_page], on_crashed=[leave_page])
def reproduce(profile: str = "") -> Reproduction:
    """Train and evaluate all systems that the track compares, and make its page.

    Args:
        profile: a file of `profiles/`, run in its own workspace; empty: the current directory.
    """
    root = prepare(Path.cwd(), profile)
    target, title = read_track(root)
    stages = run_stages(root, target)
    outcome = Reproduction(root / "data" / target, stages, step("push", push, root, target))
    table = markdown_table(("stage", "outcome"), stages.items())
    page = f"{outcome.page}\n## Stages\n\n{table}"
    create_markdown_artifact(key="reproduce", markdown=page, description=title)
    return outcome


def read_track(root: Path) -> tuple[str, str]:
    """Return target and title of the track in `root`'s parameters; Failure if there is none."""
    name = read_params(root).get("track")
    if name not in TRACKS:
        raise Failure(f"params.yaml: track = {name!r}; choose {' or '.join(TRACKS)}")
    return TRACKS[name]


def as_text(outcome: Reproduction) -> str:
    """Write the last lines of the command."""
    outcomes = list(outcome.stages.values())
    counts = [f"{n} {kind}" for kind in get_args(Outcome) if (n := outcomes.count(kind))]
    facts = {
        "stages": f"{len(outcomes)}: {', '.join(counts)}",
        "table": str(outcome.folder),
        "data": results.pushed(outcome.pushed),
    }
    if set(outcomes) == {"unchanged"}:
        facts["to do"] = "nothing"
    return outcome.page + "\n" + results.as_facts(facts)
