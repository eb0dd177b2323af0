"""Section `lexical` of `params.yaml`: the n-grams of TF-IDF."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from tasks.io.section import Count, Section


class LexicalParams(Section):
    """Section `lexical`: orders of the character n-grams of TF-IDF, smallest and largest."""

    NAME: ClassVar[str] = "lexical"
    tfidf_orders: Annotated[list[Count], Field(min_length=2, max_length=2)]
