"""Section `gate` of `params.yaml`: the margin, and the tests that decide."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from tasks.io.section import Section


class GateParams(Section):
    """Section `gate`: the tests that decide, by how much one may be worse, and the chance of harm.

    A test without queries, such as labelled inputs where there are none, is passed over.
    """

    NAME: ClassVar[str] = "gate"
    gating_tests: Annotated[list[str], Field(min_length=1)]
    margin: Annotated[float, Field(gt=0, lt=1)]
    alpha: Annotated[float, Field(gt=0, lt=0.5)]
