"""The error that a user sees is the command's own message, without anything around it."""

from __future__ import annotations

import pytest

from flows.failure import command_failed, error_message

COMMAND = "python -m tasks.pipeline.split.stage"
DVC = f"ERROR: failed to reproduce 'split': failed to run: {COMMAND}, exited with 1"
STAGE = [
    "Running stage 'split':",
    f"> {COMMAND}",
    "error: no title is left",
    "lower split.valid_min_titles",
    "(ValueError in tasks/pipeline/split/stage.py, line 7)",
    DVC,
]
PYTHON = [
    f"> {COMMAND}",
    "Traceback (most recent call last):",
    '  File "tasks/pipeline/split/stage.py", line 1, in <module>',
    "    1 / 0",
    "ZeroDivisionError: division by zero",
    DVC,
]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (STAGE, ["no title is left", "lower split.valid_min_titles"]),
        (PYTHON, ["ZeroDivisionError: division by zero"]),
        (["error: resumed after this", *PYTHON], ["ZeroDivisionError: division by zero"]),
        (["step 1", "an error: of rounding", DVC], []),
        ([], []),
    ],
)
def test_error_message(lines: list[str], message: list[str]) -> None:
    assert error_message(lines) == message


def test_without_a_message_the_last_lines_are_shown() -> None:
    lines = [*"abcdefg", "", DVC]
    assert str(command_failed("stage x", 3, lines)) == "stage x failed\nc\nd\ne\nf\ng"
    assert str(command_failed("stage x", 3, [DVC])) == "stage x failed\nexit status 3"
    assert str(command_failed("", 1, STAGE)) == "no title is left\nlower split.valid_min_titles"
