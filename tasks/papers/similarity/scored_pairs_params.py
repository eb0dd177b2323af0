"""Section `scored_pairs` of `params.yaml`: the publishers' files of scored pairs."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from tasks.io.section import Number, Params, Section, Share, require_below


class PairFilesParams(Params):
    """`scored_pairs.files`, in the folder: files, or a folder where the publishers have several."""

    sentences: str
    words: str
    paraphrases: str


class ScoredPairsParams(Section):
    """Section `scored_pairs`: all source files of the similarity track lie in one folder."""

    NAME: ClassVar[str] = "scored_pairs"
    folder: str
    reader: Literal["sample", "published"]
    files: PairFilesParams
    valid_paraphrases: Number
    max_rejected_share: Share

    @model_validator(mode="after")
    def _files_are_in_the_folder(self) -> Self:
        require_below(self.folder, self.files.model_dump().values(), self.NAME)
        return self
