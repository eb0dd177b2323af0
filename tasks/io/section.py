"""One section of `params.yaml`, read and checked: a stage knows its own and no other.

A stage's section is a subclass of `Section` beside the stage. Every default stands in
`params.yaml`. `tasks/check_params.py` checks the file as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from tasks.io.mixes import checked_mix

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

FILE = Path("params.yaml")
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast if it is compiled
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]
Number = Annotated[int, Field(ge=0)]


class ParamsError(ValueError):
    """`params.yaml` holds something that no stage can work with."""


class Params(BaseModel):
    """Base of every section: frozen, strict, and without unknown names."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Section(Params):
    """A section by its name in `params.yaml`."""

    NAME: ClassVar[str]
    PARTS: ClassVar[tuple[str, ...]] = ()  # shares that are parts of one whole: 1 or less together

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        # 0.56 + 0.34 + 0.1 and the like end a hair above 1
        total = round(sum(getattr(self, name) for name in self.PARTS), 9)
        if total > 1:
            raise ValueError(f"{' + '.join(self.PARTS)} = {total:g}; lower them to 1 or less")
        return self


class RunParams(Params):
    """Values above all sections: which models are made, and the seeds."""

    track: Literal["titles", "similarity"]
    seed: int
    mix: Annotated[str, AfterValidator(checked_mix)]
    seeds: Annotated[list[int], Field(min_length=1)]

    @model_validator(mode="after")
    def _seeds_differ(self) -> Self:
        if len(set(self.seeds)) < len(self.seeds):
            fault = "the same one twice trains the same network twice"
            raise ValueError(f"seeds {self.seeds}: {fault}")
        return self


P = TypeVar("P", bound=BaseModel)
S = TypeVar("S", bound=Section)


def load(section: type[S], path: Path = FILE) -> S:
    """Read and check one section; a ParamsError names every wrong value and what is allowed."""
    values = read_values(path)
    if section.NAME not in values:
        raise ParamsError(f"{path}:\n  {section.NAME}: missing; params.yaml holds every parameter")
    return checked(section, values[section.NAME], path, (section.NAME,))


def load_run(path: Path = FILE) -> RunParams:
    """Read and check the values above all sections; ParamsError as `load`."""
    values = read_values(path)
    named = {name: values[name] for name in RunParams.model_fields if name in values}
    return checked(RunParams, named, path)


def read_values(path: Path = FILE) -> dict[str, Any]:
    """Return the whole file, unchecked; ParamsError if it is no YAML or holds no names."""
    try:
        values = yaml.load(path.read_text(encoding="utf-8"), Loader=LOADER)
    except yaml.YAMLError as error:
        raise ParamsError(f"{path} is no YAML: {error}") from None
    if not isinstance(values, dict):
        raise ParamsError(f"{path} holds no parameters; put them back")
    return values


def require_below(folder: str, files: Iterable[str], section: str) -> None:
    """Refuse a file outside the section's folder, a dep of its stage; the ValueError names it."""
    for file in filter(None, files):
        if Path(file).is_absolute() or ".." in Path(file).parts:
            raise ValueError(
                f"{file} is not below {section}.folder = {folder}, which is all that DVC watches: "
                "name a folder that holds the files, and the files within it"
            )


def checked(model: type[P], values: object, path: Path, below: tuple[str, ...] = ()) -> P:
    """Validate plain values; ParamsError with one line a problem."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        lines = [explain(problem, below) for problem in error.errors()]
        raise ParamsError(f"{path}:\n" + "\n".join(lines)) from None


def explain(problem: ErrorDetails, below: tuple[str, ...] = ()) -> str:
    """Say in one line the parameter with its section, its value, and what is allowed."""
    name = ".".join(map(str, (*below, *problem["loc"]))) or "the whole file"
    if problem["type"] == "extra_forbidden":
        return f"  {name}: unknown parameter; check its spelling against params.yaml"
    if problem["type"] == "missing":
        return f"  {name}: missing; params.yaml holds every parameter, so put it back"
    if problem["type"] == "value_error":  # its message names the values
        return f"  {name}: {problem['msg'].removeprefix('Value error, ')}"
    return f"  {name} = {problem['input']!r}: {problem['msg']}"
