"""Section `gate` of `params.yaml`: the gating tests, the margin, alpha."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from tasks.io.section import Section


class GateParams(Section):
    """Section `gate`: the gating tests, by how much one may be worse, and the chance of harm.

    The gate skips a test without queries, such as labelled inputs where there are none. `everyday`
    is a table of titles with answers by hand (`tasks/evaluation/everyday.py`), a path from the
    root; none if empty.
    """

    NAME: ClassVar[str] = "gate"
    gating_tests: Annotated[list[str], Field(min_length=1)]
    margin: Annotated[float, Field(gt=0, lt=1)]
    alpha: Annotated[float, Field(gt=0, lt=0.5)]
    everyday: str
