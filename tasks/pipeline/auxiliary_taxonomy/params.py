"""Section `auxiliary_taxonomy` of `params.yaml`: a second taxonomy and its noisy copies."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, model_validator

from tasks.io.section import Number, Params, Section, Share, require_below
from tasks.pipeline.ingest.params import TaxonomyParams, checked_reader

NONE = "none"
"""The reader of no file."""


def _checked_reader(name: str) -> str:
    return name if name == NONE else checked_reader(name)


class NoiseParams(Params):
    """How many copies of each title are drawn, and which shares are padded and misspelt."""

    copies: Number
    padded: Share
    misspelt: Share


class AuxiliaryTaxonomyParams(TaxonomyParams, Section):
    """Section `auxiliary_taxonomy`: as `ingest.taxonomy`, with a folder of its own."""

    NAME: ClassVar[str] = "auxiliary_taxonomy"
    reader: Annotated[str, AfterValidator(_checked_reader)]
    folder: str
    max_rejected_share: Share
    noise: NoiseParams

    @model_validator(mode="after")
    def _files_are_in_the_folder(self) -> Self:
        require_below(self.folder, list(self.files.values()), self.NAME)
        return self

    @property
    def located(self) -> Self:
        """The same with the paths of the files."""
        files = {name: f"{self.folder}/{file}" for name, file in self.files.items()}
        return self.model_copy(update={"files": files})
