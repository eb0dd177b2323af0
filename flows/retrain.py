"""The flow `retrain`: DVC's stages of `report`, then register, gate, push, and a page in Prefect.

No parameter of the flow reaches a stage, or its `dvc.lock` would differ from that of a bare `dvc
repro report`. Registration and promotion follow the graph and read files, because a stage that DVC
restores from its run cache executes no code.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml
from prefect import flow
from prefect.artifacts import create_markdown_artifact
from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
from prefect.schedules import Cron, Schedule

from flows import results
from flows.dvc_plan import TARGET, Outcome
from flows.runs import leave_page, run_stages, step
from flows.stages import push
from flows.workspace import prepare
from tasks.io.command import markdown_table
from tasks.release.registry.outcomes import Promotion, RegisteredVersion

DEPLOYMENT = "monthly"


@dataclass(frozen=True)
class Summary:
    """The outcome of one run in `root`; `stages` in the order in which they ran."""

    root: Path
    stages: dict[str, Outcome]
    version: RegisteredVersion
    decision: Promotion
    pushed: bool

    @property
    def model(self) -> str:
        """Name, version and alias after the gate, which moves `champion` if it promotes."""
        alias = "champion" if self.decision.promoted else self.version.alias
        before = " (registered before)" if self.version.already_registered else ""
        return f"{self.version.name} version {self.version.version}, {alias}{before}"

    @property
    def gate(self) -> str:
        """The decision in a line."""
        return f"{'' if self.decision.promoted else 'not '}promoted: {self.decision.reason}"


@flow(name="retrain", log_prints=True, on_failure=[leave_page], on_crashed=[leave_page])
def retrain(profile: str = "") -> Summary:
    """Retrain, register the result and promote it if the gate says so; a failed push is a warning.

    Args:
        profile: a file of `profiles/`, run in its own workspace; empty: the current directory.
    """
    root = prepare(Path.cwd(), profile)
    stages = run_stages(root, TARGET)
    version = step("register", register, root)
    decision = step("promote", promote, root, version.version)
    summary = Summary(root, stages, version, decision, step("push", push, root, TARGET))
    text, page = "Results and the gate's decision", as_markdown(summary)
    create_markdown_artifact(key="retrain", markdown=page, description=text)
    return summary


def register(root: Path) -> RegisteredVersion:
    """Register the model package of `root`, once per content."""
    from tasks.release.registry.register import register as register_version  # it brings MLflow

    version = register_version(root)
    state = "was registered already" if version.already_registered else "registered"
    print(f"{version.name} version {version.version} {state}")
    return version


def promote(root: Path, version: str) -> Promotion:
    """Let the gate decide whether `version` becomes champion, and put that on top of the report."""
    from tasks.release.gate.decision_page import write_page
    from tasks.release.registry.promote import promote as decide

    decision = decide(root, version)
    print(f"version {version} {'' if decision.promoted else 'not '}promoted: {decision.reason}")
    write_page(root)
    return decision


def as_text(summary: Summary) -> str:
    """Write the last lines of the command."""
    facts = {
        "stages": ", ".join(f"{stage} {outcome}" for stage, outcome in summary.stages.items()),
        "report": str(summary.root / results.REPORT),
        "model": summary.model,
        "gate": summary.gate,
        "data": results.pushed(summary.pushed),
    }
    if {*summary.stages.values()} == {"unchanged"} and summary.version.already_registered:
        facts["to do"] = "nothing"
    return results.as_text(results.result_rows(summary.root)) + "\n\n" + results.as_facts(facts)


def as_markdown(summary: Summary) -> str:
    """Write Prefect's page: the model, the decision with its figures, results, stages."""
    table = markdown_table(results.HEAD, results.result_rows(summary.root))
    stages = markdown_table(("stage", "outcome"), summary.stages.items())
    parts = [f"# {summary.model}", f"**{summary.gate}**", summary.decision.table_markdown]
    return "\n\n".join([*parts, "## Results", table, "## Stages", stages])


def read_schedules(root: Path, deployment: str = DEPLOYMENT) -> list[Schedule]:
    """Read the cron schedules of one deployment of `prefect.yaml`, which alone has them."""
    deployments = yaml.safe_load((root / "prefect.yaml").read_text(encoding="utf-8"))["deployments"]
    (schedules,) = (entry["schedules"] for entry in deployments if entry["name"] == deployment)
    return [Cron(entry["cron"], timezone=entry["timezone"]) for entry in schedules]


def serve_on_schedule(root: Path, profile: str) -> None:
    """Retrain on the schedule of `prefect.yaml`, one run at a time; return when interrupted."""
    one = ConcurrencyLimitConfig(limit=1, collision_strategy=ConcurrencyLimitStrategy.ENQUEUE)
    schedules, parameters = read_schedules(root), {"profile": profile}
    retrain.serve(DEPLOYMENT, schedules=schedules, parameters=parameters, global_limit=one, limit=1)
