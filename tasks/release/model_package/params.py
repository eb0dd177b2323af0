"""Section `register` of `params.yaml`: the registered model's name, precision and lists."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from tasks.io.section import Count, Section


class RegisterParams(Section):
    """Section `register`: the model's name in the registry, its size, and what it says."""

    NAME: ClassVar[str] = "register"
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$")]
    top_k: Count
    precision: Literal["half_byte", "byte", "single"]  # `Precision`, whose module needs torch
    qualifiers: str
    abbreviations: str
    crosswalk: str
