"""Section `table3` of `params.yaml`."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from tasks.io.section import Section


class Table3Params(Section):
    """Section `table3`: of the intervals of gains; Holm over three tests needs some hundred."""

    NAME: ClassVar[str] = "table3"
    bootstrap_draws: Annotated[int, Field(ge=200)]
