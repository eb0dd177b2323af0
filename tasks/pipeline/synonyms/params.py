"""Section `synonyms` of `params.yaml`: manual synonyms, rules of induction, sizes of the tests."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from tasks.io.section import Count, Number, Section, Share, require_below


class SynonymsParams(Section):
    """Section `synonyms`: the manual set, the rules of induction, and the Composition test."""

    NAME: ClassVar[str] = "synonyms"
    reader: Literal["table", "thesaurus", "none"]
    folder: str
    file: str | list[str]
    columns: dict[str, str]
    max_shared_words: Count
    max_part_words: Count
    min_contexts: Count
    test_share: Share
    max_test: Number
    valid_titles: Number
    gate_titles: Number
    max_rejected_share: Share

    @model_validator(mode="after")
    def _files_are_in_the_folder(self) -> Self:
        require_below(self.folder, self._files, self.NAME)
        return self

    @property
    def paths(self) -> list[Path]:
        """The file or files."""
        return [Path(self.folder) / file for file in self._files]

    @property
    def _files(self) -> list[str]:
        return [self.file] if isinstance(self.file, str) else self.file
