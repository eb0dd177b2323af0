"""`params.yaml` as a whole, read and checked: its sections are `tasks/sections.py`'s classes.

Every default stands in `params.yaml`; a value that cannot work is refused with what to change.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import yaml
from pydantic import Field, ValidationError, model_validator

from tasks.sections import (
    EvaluateParams,
    ExtraWordsParams,
    FeedbackParams,
    IngestParams,
    LexicalParams,
    PairsParams,
    Params,
    RegisterParams,
    ReportParams,
    ScoreParams,
    SplitParams,
    Stage,
    SynonymsParams,
    Table3Params,
    TrainParams,
    TyposParams,
)

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


class ParamsError(ValueError):
    """`params.yaml` holds something that no stage can work with."""


class AllParams(Params):
    """The whole file."""

    seed: int
    stage: Stage
    seeds: Annotated[list[int], Field(min_length=1)]
    ingest: IngestParams
    split: SplitParams
    typos: TyposParams
    synonyms: SynonymsParams
    extra_words: ExtraWordsParams
    score: ScoreParams
    feedback: FeedbackParams
    pairs: PairsParams
    train: TrainParams
    lexical: LexicalParams
    evaluate: EvaluateParams
    table3: Table3Params
    report: ReportParams
    register_: Annotated[RegisterParams, Field(alias="register")]

    @model_validator(mode="after")
    def _seeds_differ(self) -> Self:
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError(
                f"seeds {self.seeds}: the same one twice trains the same network twice"
            )
        return self

    @model_validator(mode="after")
    def _negatives_exist(self) -> Self:
        if self.train.loss.negatives == "pairs" and not self.pairs.dissimilar_per_similar:
            raise ValueError(
                "train.loss.negatives is pairs, but pairs.dissimilar_per_similar is 0; raise it, "
                "or set negatives to batch or hardest"
            )
        return self


def load_params(path: Path = Path("params.yaml")) -> AllParams:
    """Read and check the whole file.

    Raises:
        ParamsError: with every offending name, its value, and what is allowed.
    """
    try:
        return AllParams.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except yaml.YAMLError as error:
        raise ParamsError(f"{path} is no YAML: {error}") from None
    except ValidationError as error:
        lines = [_explain(problem) for problem in error.errors()]
        raise ParamsError(f"{path}:\n" + "\n".join(lines)) from None


def _explain(problem: ErrorDetails) -> str:
    name = ".".join(str(part) for part in problem["loc"]) or "the whole file"
    if problem["type"] == "extra_forbidden":
        return f"  {name}: unknown parameter; check its spelling against params.yaml"
    if problem["type"] == "missing":
        return f"  {name}: missing; params.yaml holds every parameter, so put it back"
    if problem["type"] == "value_error":  # a whole section's: its message names the values
        return f"  {name}: {problem['msg'].removeprefix('Value error, ')}"
    return f"  {name} = {problem['input']!r}: {problem['msg']}"
