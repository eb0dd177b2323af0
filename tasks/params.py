"""`params.yaml` as frozen, strict classes: one per stage, no defaults here.

Every default stands in `params.yaml`; a value that cannot work is refused with what to change.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Share = Annotated[float, Field(ge=0, le=1)]
StageNumber = Annotated[int, Field(ge=0, le=1)]
SOURCES = 4
"""Files that dvc.yaml names one by one: its lists cannot be of changing length."""
Count = Annotated[int, Field(ge=1)]


class ParamsError(ValueError):
    """`params.yaml` holds something that no stage can work with."""


class Params(BaseModel):
    """Base of every section: frozen, strict, and without unknown names."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class TaxonomyParams(Params):
    """Which reader, which files (its own names to paths), which columns (for `table`)."""

    reader: Literal["sample", "esco", "onet", "table"]
    files: dict[str, str]
    columns: dict[str, str]


class InputsParams(Params):
    """Raw inputs: a table with named columns, one title a line, or none."""

    reader: Literal["table", "lines", "none"]
    file: str
    columns: dict[str, str]


class IngestParams(Params):
    """Section `ingest`."""

    taxonomy: TaxonomyParams
    inputs: InputsParams
    sources: Annotated[list[str], Field(min_length=SOURCES, max_length=SOURCES)]
    max_rejected_share: Share

    @model_validator(mode="after")
    def _sources_are_the_files(self) -> Self:
        files = [*self.taxonomy.files.values(), self.inputs.file]
        wanted = {file for file in files if file}
        if set(self.sources) != wanted:
            raise ValueError(
                f"sources must be {SOURCES} names, the files that are read, the last repeated: "
                f"{sorted(wanted)}; DVC watches these"
            )
        return self


class SplitParams(Params):
    """Section `split`: sizes from which an occupation gives aliases away; shares of inputs."""

    heldout_min_titles: Annotated[int, Field(ge=2)]
    valid_min_titles: Annotated[int, Field(ge=2)]
    gate_min_titles: Annotated[int, Field(ge=2)]
    annotations_share: Share
    gate_share: Share
    valid_share: Share

    @model_validator(mode="after")
    def _shares_fit(self) -> Self:
        # rounded, because 0.56 + 0.34 + 0.1 and the like end a hair above 1
        total = round(self.annotations_share + self.gate_share + self.valid_share, 9)
        if total > 1:
            raise ValueError(
                f"annotations_share + gate_share + valid_share = {total:g}; lower them to 1 or less"
            )
        return self


class TyposParams(Params):
    """Section `typos`: shares of characters for training and test, and how many are drawn."""

    substituted: Share
    deleted: Share
    variants: Count
    test_share: Share
    max_draws: Count
    probe_titles: Annotated[int, Field(ge=0)]

    @model_validator(mode="after")
    def _something_is_left(self) -> Self:
        if round(self.substituted + self.deleted, 9) > 1:
            raise ValueError("substituted + deleted is above 1: lower one of them")
        return self


class PairsParams(Params):
    """Section `pairs`: how many, in which ratio, and the share of typo pairs of all rows."""

    rounds: Count
    dissimilar_per_similar: Annotated[int, Field(ge=0)]
    typo_share: Share
    row_group: Annotated[int, Field(ge=1024)]

    @model_validator(mode="after")
    def _share_is_possible(self) -> Self:
        if self.typo_share * (1 + self.dissimilar_per_similar) >= 1:
            limit = 1 / (1 + self.dissimilar_per_similar)
            raise ValueError(
                f"typo_share {self.typo_share:g} cannot be reached: with "
                f"{self.dissimilar_per_similar} dissimilar pairs to a similar one it stays below "
                f"{limit:g}; lower typo_share or dissimilar_per_similar"
            )
        return self


class EncoderParams(Params):
    """`train.encoder`: mirrors `models.recurrent.RecurrentSettings`."""

    kind: Literal["recurrent"]
    mode: Literal["paper", "fast"]
    max_length: Annotated[int, Field(ge=4, le=1000)]
    dim_character: Count
    layers: Count
    hidden: Count
    dim: Count
    dropout_recurrent: Annotated[float, Field(ge=0, lt=1)]
    dropout_between: Annotated[float, Field(ge=0, lt=1)]


class LossParams(Params):
    """`train.loss`: mirrors `models.contrastive.ContrastiveSettings`."""

    kind: Literal["contrastive"]
    penalty: Literal["printed", "flipped", "hinge"]
    margin: Annotated[float, Field(gt=-1, lt=1, description="on cosine similarity")]
    weight_similar: Annotated[float, Field(ge=0)]
    weight_dissimilar: Annotated[float, Field(ge=0)]
    negatives: Literal["pairs", "batch", "hardest"]
    hardest: Count


class TrainParams(Params):
    """Section `train`."""

    seed: int
    encoder: EncoderParams
    loss: LossParams
    batch_pairs: Annotated[int, Field(ge=2)]
    learning_rate: Annotated[float, Field(gt=0)]
    schedule: Literal["constant", "linear"]
    clip_norm: Annotated[float, Field(gt=0)]
    max_steps: Annotated[int, Field(ge=0)]
    evaluate_every: Count
    patience: Count


class EvaluateParams(Params):
    """Section `evaluate`."""

    occupation_score: Literal["best", "soft"]
    soft_temperature: Annotated[float, Field(gt=0)]
    run_depth: Count
    bootstrap_draws: Count


class ReportParams(Params):
    """Section `report`."""

    neighbours: Count
    confusions: Count


class RegisterParams(Params):
    """Section `register`: the registry's name of the model and its default number of answers."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$")]
    top_k: Count


class AllParams(Params):
    """The whole file."""

    seed: int
    stage: StageNumber
    stages: Annotated[list[StageNumber], Field(min_length=1)]
    ingest: IngestParams
    split: SplitParams
    typos: TyposParams
    pairs: PairsParams
    train: TrainParams
    evaluate: EvaluateParams
    report: ReportParams
    register_: Annotated[RegisterParams, Field(alias="register")]

    @model_validator(mode="after")
    def _stage_is_one_of_them(self) -> Self:
        if self.stage not in self.stages:
            raise ValueError(f"stage {self.stage} is not in stages {self.stages}; add it there")
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
