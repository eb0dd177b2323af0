"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

Profile = Annotated[
    str,
    typer.Option(
        envvar="ROLECALL_PROFILE",
        show_envvar=False,
        help="Name of a file in profiles/, or sample, the embedded example; $ROLECALL_PROFILE sets "
        "another default.",
    ),
]
Model = Annotated[str, typer.Option(help="Address in the registry; default: champion.")]
TopK = Annotated[int | None, typer.Option(help="Number of answers to a title.")]
MinConfidence = Annotated[
    float | None, typer.Option(help="The model abstains below this confidence.")
]
Language = Annotated[
    str,
    typer.Option(help="Of labels and titles in the answer, as en; default: the closest title's."),
]
CodeDepth = Annotated[
    int | None, typer.Option(help="Number of code levels to answer with; 0: all.")
]
