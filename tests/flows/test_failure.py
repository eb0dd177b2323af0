"""The error that a user sees is the command's own message, without anything around it."""

from __future__ import annotations

import pytest

from flows.failure import Failure, command_failed, error_message, errors_of_input

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


LIBRARY = [
    "Traceback (most recent call last):",
    '  File "tasks/pipeline/split/stage.py", line 1, in <module>',
    "    read(",
    "    ~~~~^",
    "polars.exceptions.ComputeError: the file is damaged",
    "  at byte 7",
    "This error occurred in the following expression: x",
    DVC,
]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (STAGE, ["no title is left", "lower split.valid_min_titles"]),
        (PYTHON, ["ZeroDivisionError: division by zero"]),
        (["error: resumed after this", *PYTHON], ["ZeroDivisionError: division by zero"]),
        (LIBRARY, LIBRARY[4:7]),
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


def test_the_cause_that_dvc_names_is_kept() -> None:
    """The stage's command has not run, so that there is no message but DVC's."""
    missing = "ERROR: failed to reproduce 'split': missing data 'source': data/ingest"
    assert str(command_failed("stage x", 1, ["Verifying", missing])) == (
        "stage x failed\nfailed to reproduce 'split': missing data 'source': data/ingest"
    )


def test_an_error_of_the_input_is_a_failure() -> None:
    for error in (
        ValueError("no such column"),
        ImportError("Install s3fs to access S3"),
        PermissionError("Forbidden"),
    ):
        with pytest.raises(Failure, match=f"^{error}$"), errors_of_input():
            raise error
