"""The outcome of `retrain`: stages, result table, report, model and decision."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from flows import results
from flows.stages.dvc_plan import Outcome
from tasks.release.registry.outcomes import Promotion, RegisteredVersion


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
        return ("promoted: " if self.decision.promoted else "not promoted: ") + self.decision.reason


def as_text(summary: Summary, *, up_to_date: bool = False) -> str:
    """Write the last lines of the command; `up_to_date`: there was nothing to do."""
    model = {"report": str(summary.root / results.REPORT), "model": summary.model}
    stages = ", ".join(f"{stage} {outcome}" for stage, outcome in summary.stages.items())
    run = {"stages": stages, **model, "gate": summary.gate, "data": results.pushed(summary.pushed)}
    facts = {**model, "to do": "nothing"} if up_to_date else run
    return results.as_text(results.result_rows(summary.root)) + "\n\n" + results.as_facts(facts)


def as_markdown(summary: Summary) -> str:
    """Write Prefect's page: the model, the decision with its figures, results, stages."""
    return "\n\n".join(
        [
            f"# {summary.model}",
            f"**{summary.gate}**",
            summary.decision.table_markdown,
            "## Results",
            results.as_markdown(results.result_rows(summary.root)),
            "## Stages",
            results.as_markdown(list(summary.stages.items()), ("stage", "outcome")),
        ]
    )
