"""`rolecall review`: the flow of that name, on folders as seen from the current directory."""

from __future__ import annotations

from pathlib import Path

from flows.commands.work import place, work


def review(
    profile: str | None, answers: Path, output: Path, model: str, budget: int, before: Path | None
) -> None:
    """Run the flow in the clone, and print what came of it."""
    answers, output = answers.absolute(), output.absolute()
    model = str(Path(model).absolute()) if model and Path(model).exists() else model
    options: dict[str, object] = {"budget": budget, "model": model}
    options |= {"before": before.absolute()} if before else {}
    with place(None) as root, work(root, "review"):
        from flows.results import as_facts
        from flows.review import review as flow

        chosen = {name: str(value) for name, value in options.items() if value}
        done = flow(str(answers), str(output), chosen, profile or "")
        print("\n" + as_facts(done), flush=True)
