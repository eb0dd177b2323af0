"""Where the publishers' files lie, and tests that need one: what is missing is said by its name."""

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).resolve().parents[2] / "shared/data"
DATA = Path(os.environ.get("ROLECALL_DATA", BESIDE)).resolve()


def needs(path: Path) -> pytest.MarkDecorator:
    """Run a test only where a file or folder of `DATA` is there."""
    name = path.relative_to(DATA) if path.is_relative_to(DATA) else path
    return pytest.mark.skipif(
        not path.exists(), reason=f"{name} is not among the published data: set ROLECALL_DATA"
    )
