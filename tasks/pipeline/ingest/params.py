"""Section `ingest` of `params.yaml`: the publishers' files and how they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, model_validator

from tasks.io.section import Params, Section, Share, require_below
from tasks.pipeline.ingest.reader_names import checked_reader
from tasks.tables.delimiters import checked_delimiter, checked_encoding
from tasks.tables.records import Format


class FormatParams(Params):
    """How a table of text is read; an empty value is what the file is found to have."""

    delimiter: Annotated[str, AfterValidator(checked_delimiter)]
    encoding: Annotated[str, AfterValidator(checked_encoding)]

    @property
    def format(self) -> Format:
        """Both as readers take them."""
        return Format(self.delimiter, self.encoding)


class TaxonomyParams(FormatParams):
    """Which format, which files (its own names to names in the folder), which columns (`table`)."""

    reader: Annotated[str, AfterValidator(checked_reader)]
    files: dict[str, str]
    columns: dict[str, str]


class InputsParams(FormatParams):
    """Raw inputs: a table with named columns, one title a line, or none."""

    reader: Literal["table", "lines", "none"]
    file: str
    columns: dict[str, str]


class IngestParams(Section):
    """Section `ingest`: all files lie in one folder, which DVC watches."""

    NAME: ClassVar[str] = "ingest"
    folder: str
    taxonomy: TaxonomyParams
    inputs: InputsParams
    max_rejected_share: Share

    @model_validator(mode="after")
    def _files_are_in_the_folder(self) -> Self:
        require_below(self.folder, [*self.taxonomy.files.values(), self.inputs.file], self.NAME)
        return self

    @property
    def located(self) -> tuple[TaxonomyParams, InputsParams]:
        """Both parts with the paths of their files."""
        folder = Path(self.folder)
        files = {name: (folder / file).as_posix() for name, file in self.taxonomy.files.items()}
        file = self.inputs.file and (folder / self.inputs.file).as_posix()
        return (
            self.taxonomy.model_copy(update={"files": files}),
            self.inputs.model_copy(update={"file": file}),
        )
