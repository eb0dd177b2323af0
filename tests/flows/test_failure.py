"""What a user sees of an error: the command's own message, and nothing around it."""

from __future__ import annotations

import pytest

from flows.failure import failed, last_words

DVC = "ERROR: failed to reproduce 'split': failed to run: python -m tasks.split, exited with 1"
STAGE = [
    "Running stage 'split':",
    "> python -m tasks.split",
    "error: no title is left",
    "lower split.valid_min_titles",
    "(ValueError in tasks/split.py, line 7)",
    DVC,
]
PYTHON = [
    "> python -m tasks.split",
    "Traceback (most recent call last):",
    '  File "tasks/split.py", line 1, in <module>',
    "    1 / 0",
    "ZeroDivisionError: division by zero",
    DVC,
]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (STAGE, ["no title is left", "lower split.valid_min_titles"]),
        (PYTHON, ["ZeroDivisionError: division by zero"]),
        (["error: resumed after this", *PYTHON], ["ZeroDivisionError: division by zero"]),
        (["step 1", "an error: of rounding", DVC], []),
        ([], []),
    ],
)
def test_last_words(lines: list[str], words: list[str]) -> None:
    assert last_words(lines) == words


def test_without_any_the_last_lines_stand() -> None:
    lines = [*"abcdefg", "", DVC]
    assert str(failed("stage x", 3, lines)) == "stage x failed\nc\nd\ne\nf\ng"
    assert str(failed("stage x", 3, [DVC])) == "stage x failed\nexit status 3"
