"""Section `ingest` of `params.yaml`: the publishers' files and how they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, model_validator

from tasks.io.section import Params, Section, Share, require_below
from tasks.tables.delimiters import checked_delimiter, checked_encoding
from tasks.tables.records import Format


def checked_reader(name: str) -> str:
    """Return the name of a module of `taxonomies/`, which reads one format.

    Raises:
        ValueError: no module reads this format; the message lists the readers.
    """
    names = sorted(path.stem for path in Path(__file__).parent.glob("taxonomies/[!_]*.py"))
    if name not in names:
        raise ValueError(f"{name!r} is no reader of taxonomies; choose {', '.join(names)}")
    return name


class FormatParams(Params):
    """How a table of text is read; an empty value is detected in the file."""

    delimiter: Annotated[str, AfterValidator(checked_delimiter)]
    encoding: Annotated[str, AfterValidator(checked_encoding)]

    @property
    def format(self) -> Format:
        """Both as readers take them."""
        return Format(self.delimiter, self.encoding)


class TaxonomyParams(FormatParams):
    """Which format, which files (its own names to names in the folder), which columns (`table`).

    `columns.title` may be a list: a row then has several titles. `languages`: those whose titles
    are kept, labels in the first one that an occupation has; none: all, labels in English if there
    are such.
    """

    reader: Annotated[str, AfterValidator(checked_reader)]
    files: dict[str, str]
    columns: dict[str, str | list[str]]
    languages: list[str]


class InputsParams(FormatParams):
    """Raw inputs: a table with named columns, one title a line, or none.

    `file` may be a list of files of one form.
    """

    reader: Literal["table", "lines", "none"]
    file: str | list[str]
    columns: dict[str, str]

    @property
    def files(self) -> list[str]:
        """The file or files; none if the name is empty."""
        return list(filter(None, [self.file] if isinstance(self.file, str) else self.file))


class IngestParams(Section):
    """Section `ingest`: all files lie in one folder, on which its stage depends."""

    NAME: ClassVar[str] = "ingest"
    folder: str
    taxonomy: TaxonomyParams
    inputs: InputsParams
    max_rejected_share: Share

    @model_validator(mode="after")
    def _files_are_in_the_folder(self) -> Self:
        require_below(self.folder, [*self.taxonomy.files.values(), *self.inputs.files], self.NAME)
        return self

    @property
    def located(self) -> tuple[TaxonomyParams, InputsParams]:
        """Both parts with the paths of their files."""
        folder = Path(self.folder)
        files = {name: (folder / file).as_posix() for name, file in self.taxonomy.files.items()}
        inputs = [(folder / file).as_posix() for file in self.inputs.files]
        return (
            self.taxonomy.model_copy(update={"files": files}),
            self.inputs.model_copy(update={"file": inputs}),
        )
