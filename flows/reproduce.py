"""The flow `reproduce`: DVC's stages of `table3`, the paper's Table 3 and its effects, a push.

`python -m flows.reproduce [--profile NAME]`. As `flows/retrain.py`: no parameters, no server to be
started first, the current directory. It registers nothing: a model becomes a version by `retrain`.
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # Prefect reads its settings when it is imported
    from flows.quiet import QUIET

    os.environ.update({**QUIET, **os.environ})

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from prefect import flow
from prefect.artifacts import create_markdown_artifact

from flows import results
from flows.command import PROFILE, exit_status
from flows.dvc_stages import Outcome
from flows.target import push_target, run_stages

TARGET = "table3"
MODULE = "flows.reproduce"
PAGE = Path("data/table3/table3.md")


@dataclass(frozen=True)
class Reproduced:
    """The outcome of one run in `root`; `stages` in the order in which they ran."""

    root: Path
    stages: dict[str, Outcome]
    pushed: bool

    @property
    def page(self) -> str:
        """The table, its effects and verdicts, as the stage wrote them."""
        return (self.root / PAGE).read_text(encoding="utf-8")


@flow(name="reproduce")
def reproduce() -> Reproduced:
    """Train and evaluate every stage number in the current directory, and make the table."""
    return reproduce_in(Path.cwd())


def reproduce_in(root: Path) -> Reproduced:
    """The steps of the flow in `root`; called within a flow run.

    Raises:
        StageFailed: with the stage's last lines. A push that fails is a warning.
    """
    stages = run_stages(root, TARGET)
    done = Reproduced(root, stages, push_target(root, TARGET))
    create_markdown_artifact(
        key="reproduce", markdown=as_markdown(done), description="Table 3 and its effects"
    )
    return done


def as_text(done: Reproduced) -> str:
    """For the terminal; the last lines of the command."""
    counts = [f"{list(done.stages.values()).count(o)} {o}" for o in set(done.stages.values())]
    facts = {
        "stages": f"{len(done.stages)}: {', '.join(sorted(counts))}",
        "table": str(done.root / PAGE.parent),
        "data": results.pushed(done.pushed),
    }
    return done.page + "\n" + results.as_facts(facts)


def as_markdown(done: Reproduced) -> str:
    """For Prefect's page: the table, then the stages."""
    stages = [(stage, outcome) for stage, outcome in done.stages.items()]
    return done.page + "\n## Stages\n\n" + results.as_markdown(stages, ("stage", "outcome"))


def main(arguments: list[str] | None = None) -> int:
    """The command; its exit status (`flows/command.py`)."""
    parser = argparse.ArgumentParser(prog=f"python -m {MODULE}", description=reproduce.__doc__)
    parser.add_argument("--profile", help=PROFILE)
    asked = parser.parse_args(arguments)
    return exit_status(
        lambda: print("\n" + as_text(reproduce()), flush=True), MODULE, asked.profile
    )


if __name__ == "__main__":
    sys.exit(main())
