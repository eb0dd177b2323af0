"""`rolecall`: the one command line of the project, with a subcommand for each task.

This module imports little; each command imports what it needs when it runs. Prefect, DVC and MLflow
read their settings when they are imported, so `main` sets their environment first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer
from typer.core import TyperGroup

from flows.commands import answers, ask, models, schedule, setup, training
from flows.commands.project_root import enclosing_root
from flows.environment import set_environment
from tasks.io.tracking import main_tree

RENAMED_COMMANDS: Mapping[str, str] = {
    "profile": "init",
    "registry": "models",
    "feedback": "apply-feedback",
}
RENAMED_OPTIONS: Mapping[str, Mapping[str, str]] = {
    "normalize": {
        "--known": "--cache-dir",
        "--levels": "--code-depth",
        "--processes": "--threads",
    },
    "review": {"--before": "--compare-with"},
    "rollback": {"--why": "--reason"},
}


class Commands(TyperGroup):
    """Refuses an old name of a command or option, and gives the new one."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401
        """Look for old names before anything is parsed; typer's own types are private."""
        name, *rest = args
        if name in RENAMED_COMMANDS:
            ctx.fail(f"`rolecall {name}` is now `rolecall {RENAMED_COMMANDS[name]}`")
        renamed = RENAMED_OPTIONS.get(name, {})
        for option in (word.partition("=")[0] for word in rest):
            if option in renamed:
                ctx.fail(f"`rolecall {name} {option}` is now `rolecall {name} {renamed[option]}`")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def main() -> None:
    """Find the occupation behind a job title: train, evaluate, register and use the model.

    Works in any folder of a clone. Exit status: 0 success (also if the gate keeps the old
    champion), 1 failure (the last lines say what to do), 2 wrong usage, 130 interrupted.
    """
    root = enclosing_root()
    set_environment(main_tree(root) if root else None)


for command in (
    training.retrain,
    training.reproduce,
    setup.init,
    training.status,
    models.models,
    models.rollback,
    ask.ask,
    answers.normalize,
    answers.review,
    answers.apply_feedback,
    models.serve,
    schedule.schedule,
    setup.notify,
    models.benchmark,
):
    app.command()(command)


if __name__ == "__main__":
    app()
