"""`params.yaml` as a whole, read and checked: its sections are `tasks/sections.py`'s classes.

Every default stands in `params.yaml`; a value that cannot work is refused with what to change.
What the networks ask of their values is checked by `tasks/network_params.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

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
    ScoredPairsParams,
    ScoreParams,
    SimilarityParams,
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

    track: Literal["titles", "similarity"]
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
    encoders: dict[str, dict[str, Any]]
    losses: dict[str, dict[str, Any]]
    lexical: LexicalParams
    evaluate: EvaluateParams
    table3: Table3Params
    scored_pairs: ScoredPairsParams
    similarity: SimilarityParams
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
    def _kinds_have_values(self) -> Self:
        used = [
            ("train.encoder", self.train.encoder.kind, self.encoders),
            ("train.loss", self.train.loss.kind, self.losses),
        ]
        for name, system in self.similarity.systems.items():
            used += [
                (f"similarity.systems.{name}.encoder", system.encoder["kind"], self.encoders),
                (f"similarity.systems.{name}.loss", system.loss["kind"], self.losses),
            ]
        for name, kind, sections in used:
            if kind not in sections:
                raise ValueError(
                    f"{name}.kind = {kind!r} has no section of values; choose "
                    f"{', '.join(sorted(sections))}"
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
        lines = [explain(problem) for problem in error.errors()]
        raise ParamsError(f"{path}:\n" + "\n".join(lines)) from None


def explain(problem: ErrorDetails, below: tuple[str, ...] = ()) -> str:
    """One line: the parameter with its section, its value, and what is allowed."""
    name = ".".join(map(str, (*below, *problem["loc"]))) or "the whole file"
    if problem["type"] == "extra_forbidden":
        return f"  {name}: unknown parameter; check its spelling against params.yaml"
    if problem["type"] == "missing":
        return f"  {name}: missing; params.yaml holds every parameter, so put it back"
    if problem["type"] == "value_error":  # a whole section's: its message names the values
        return f"  {name}: {problem['msg'].removeprefix('Value error, ')}"
    return f"  {name} = {problem['input']!r}: {problem['msg']}"
