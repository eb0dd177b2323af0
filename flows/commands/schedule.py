# ruff: noqa: D301  (\b tells click to keep the lines of this paragraph)
"""The command `schedule`: Prefect's server, deployments and worker, until it is interrupted."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from flows.commands.error_handling import error_handling
from flows.commands.project_root import project_root


def schedule(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Of Prefect's pages.")] = 4200,
) -> None:
    """Run the schedules of prefect.yaml, with Prefect's pages.

    Starts a server, a worker and the deployments, and stays. Ctrl-C ends all of them. Only this
    machine reaches the server, which asks for the password in .prefect/password. The history of
    runs stays in .prefect/schedule.

    \b
    Examples:
      rolecall schedule
      rolecall schedule --port 4300
    """
    with error_handling():
        from flows.scheduling.children import LOGS, PASSWORD, scheduling, watch
        from tasks.io.tracking import main_tree

        root = project_root()
        os.chdir(root)
        with scheduling(root, port, lambda line: print(line, flush=True)) as processes:
            from flows.scheduling.deployed import next_runs

            facts = {
                "pages": f"http://127.0.0.1:{port}, which ask for the password",
                "password": f"the line in {main_tree(root) / PASSWORD}",
                "logs": ", ".join(str(root / log) for log in LOGS.values()),
                **next_runs(),
                "to end": "Ctrl-C",
            }
            width = max(map(len, facts)) + 2
            print("\n" + "\n".join(f"{name:<{width}}{fact}" for name, fact in facts.items()))
            sys.stdout.flush()
            watch(processes)
