"""The flow `reproduce`: DVC's stages of one track's target, the page that it ends with, a push.

`track` of `params.yaml` says which: the titles' Table 3 and its effects, or the similarity of
scored pairs. As `flows/retrain.py`, but it registers nothing: a model becomes a version by
`retrain`.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import yaml
from prefect import flow
from prefect.artifacts import create_markdown_artifact

from flows import results
from flows.failed_run import leave_page
from flows.failure import StageFailed
from flows.stages.dvc_plan import Outcome
from flows.stages.nothing_to_do import push, unchanged
from flows.stages.target import push_target, run_stages
from flows.workspaces.workspace import root_of


@dataclass(frozen=True)
class Track:
    """A target of `dvc.yaml`, and the page that it ends with."""

    target: str
    page: Path
    description: str


TRACKS = {
    "titles": Track("table3", Path("data/table3/table3.md"), "Table 3 and its effects"),
    "similarity": Track(
        "similarity", Path("data/similarity/similarity.md"), "Similarity of scored pairs"
    ),
}
"""By the parameter `track`."""


@dataclass(frozen=True)
class Reproduced:
    """The outcome of one run in `root`; `stages` in the order in which they ran."""

    root: Path
    track: Track
    stages: dict[str, Outcome]
    pushed: bool

    @property
    def page(self) -> str:
        """The tables, as the target's last stage wrote them."""
        return (self.root / self.track.page).read_text(encoding="utf-8")


@flow(name="reproduce", on_failure=[leave_page], on_crashed=[leave_page])
def reproduce(profile: str = "") -> Reproduced:
    """Train and evaluate all that the track compares, and make its page.

    Args:
        profile: a file of `profiles/`, run in its own workspace; empty: the current directory.
    """
    return reproduce_in(root_of(profile))


def reproduce_in(root: Path) -> Reproduced:
    """Take the steps of the flow in `root`; called within a flow run.

    Raises:
        StageFailed: with the stage's last lines, or for an unknown track. A push that fails is a
            warning.
    """
    track = track_of(root)
    stages = run_stages(root, track.target)
    done = Reproduced(root, track, stages, push_target(root, track.target))
    create_markdown_artifact(
        key="reproduce", markdown=as_markdown(done), description=track.description
    )
    return done


def standing(root: Path) -> Reproduced | None:
    """Return what stands in `root` if a run would change nothing, else None; it is pushed."""
    with suppress(Exception):  # whatever is wrong, the flow meets it again and says it better
        track = track_of(root)
        stages = unchanged(root, track.target)
        if stages:
            return Reproduced(root, track, stages, push(root, track.target))
    return None


def track_of(root: Path) -> Track:
    """Return what `track` of the parameters in `root` names.

    Raises:
        StageFailed: it names none.
    """
    name = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8")).get("track")
    if name not in TRACKS:
        raise StageFailed(f"params.yaml: track = {name!r}; choose {' or '.join(TRACKS)}")
    return TRACKS[name]


def as_text(done: Reproduced) -> str:
    """Write it for the terminal; the last lines of the command."""
    outcomes = list(done.stages.values())
    counts = [f"{n} {one}" for one in get_args(Outcome) if (n := outcomes.count(one))]
    facts = {
        "stages": f"{len(done.stages)}: {', '.join(counts)}",
        "table": str((done.root / done.track.page).parent),
        "data": results.pushed(done.pushed),
    }
    if set(done.stages.values()) == {"unchanged"}:
        facts["to do"] = "nothing"
    return done.page + "\n" + results.as_facts(facts)


def as_markdown(done: Reproduced) -> str:
    """Write it for Prefect's page: the tables, then the stages."""
    stages = [(stage, outcome) for stage, outcome in done.stages.items()]
    return done.page + "\n## Stages\n\n" + results.as_markdown(stages, ("stage", "outcome"))
