"""What a run of `retrain` ends with: stages, result table, report, model, decision.

The same facts as text for the terminal and as Markdown for Prefect's artifact.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from flows import results
from flows.registry import Decision, Registered
from flows.stages.dvc_plan import Outcome


@dataclass(frozen=True)
class Summary:
    """The outcome of one run in `root`; `stages` in the order in which they ran."""

    root: Path
    stages: dict[str, Outcome]
    registered: Registered
    decision: Decision
    pushed: bool

    @property
    def alias(self) -> str:
        """The alias after the gate: promotion moves `champion` to this version."""
        return "champion" if self.decision.promoted else self.registered.alias

    @property
    def model(self) -> str:
        """Name, version and alias, as a consumer needs them."""
        known = " (registered before)" if self.registered.already_registered else ""
        return f"{self.registered.name} version {self.registered.version}, {self.alias}{known}"

    @property
    def table(self) -> list[results.Row]:
        """The rows of the model that `params.yaml` names, and of what it stands beside."""
        return results.result_rows(results.tables(self.root))

    @property
    def verdict(self) -> str:
        """The decision in a line."""
        return ("promoted: " if self.decision.promoted else "not promoted: ") + self.decision.reason


def as_text(summary: Summary) -> str:
    """Write it for the terminal; the last lines of the command."""
    facts = {
        "stages": ", ".join(f"{stage} {outcome}" for stage, outcome in summary.stages.items()),
        **_standing(summary),
        "gate": summary.verdict,
        "data": results.pushed(summary.pushed),
    }
    return results.as_text(summary.table) + "\n\n" + results.as_facts(facts)


def nothing_to_do(summary: Summary) -> str:
    """Write how things stand, where a run would change nothing."""
    facts = {**_standing(summary), "to do": "nothing"}
    return results.as_text(summary.table) + "\n\n" + results.as_facts(facts)


def _standing(summary: Summary) -> dict[str, str]:
    return {"report": str(summary.root / results.REPORT), "model": summary.model}


def as_markdown(summary: Summary) -> str:
    """Write it for Prefect's page: the model, the decision with its figures, results, stages."""
    stages = [(stage, outcome) for stage, outcome in summary.stages.items()]
    return "\n\n".join(
        [
            f"# {summary.model}",
            f"**{summary.verdict}**",
            summary.decision.table_markdown,
            "## Results",
            results.as_markdown(summary.table),
            "## Stages",
            results.as_markdown(stages, ("stage", "outcome")),
        ]
    )
