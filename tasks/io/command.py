"""How a stage's command ends when its input is at fault: a message and exit status 1.

Errors that this project raises say what to do and need no traceback. Any other error is a fault in
the program, and keeps it.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OWN = (ROOT / "tasks", ROOT / "models")
OVERRIDES = (ValueError, FileNotFoundError, FloatingPointError, ModuleNotFoundError)


def run(main: Callable[[], None]) -> None:
    """Run `main`; end the process with the message of an error that our own code raises.

    The message goes to stderr, followed by the place that raised it.
    """
    try:
        main()
    except OVERRIDES as error:
        raised = traceback.extract_tb(error.__traceback__)[-1]
        file = Path(raised.filename).resolve()
        if not any(file.is_relative_to(folder) for folder in OWN):
            raise
        place = f"{file.relative_to(ROOT).as_posix()}, line {raised.lineno}"
        sys.exit(f"error: {error}\n({type(error).__name__} in {place})")
