"""`rolecall`: the one command line of the project, with a subcommand for each task.

This module imports little; each command imports what it needs when it runs. Prefect, DVC and MLflow
read their settings when they are imported, so `main` sets their environment first.
"""

from __future__ import annotations

import typer

from flows.commands import answers, models, training
from flows.environment import enclosing_root, set_environment
from tasks.io.tracking import main_tree

app = typer.Typer(
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


for command in (  # in the order of the help
    *(training.retrain, training.reproduce, training.init, training.status),
    *(models.models, models.rollback, answers.ask, answers.normalize, answers.review),
    *(answers.apply_feedback, models.serve, training.schedule, training.notify, models.benchmark),
):
    app.command()(command)


if __name__ == "__main__":
    app()
