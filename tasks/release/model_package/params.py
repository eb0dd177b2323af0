"""Section `register` of `params.yaml`: the registered model's name, precision and lists."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from models.network.quantization import Precision
from tasks.io.section import Count, Section


class RegisterParams(Section):
    """Section `register`: the model's name in the registry, its size, and what it says."""

    NAME: ClassVar[str] = "register"
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$")]
    top_k: Count
    precision: Precision
    qualifiers: str
    crosswalk: str
