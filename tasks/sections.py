"""The sections of `params.yaml` as frozen, strict classes: one per stage, no defaults here."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Share = Annotated[float, Field(ge=0, le=1)]
Stage = Literal["0", "1", "2", "3", "4", "4c"]
"""k of `pairs@k`: the base taxonomy and its first k sources; 4c learns from corrections as well."""
SOURCES = 4
"""Files that dvc.yaml names one by one: its lists cannot be of changing length."""
Count = Annotated[int, Field(ge=1)]


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


class SynonymsParams(Params):
    """Section `synonyms`: the manual set, the rules of induction, and the Composition test."""

    reader: Literal["table", "thesaurus"]
    file: str
    max_shared_words: Count
    max_part_words: Count
    min_contexts: Count
    test_share: Share
    max_test: Annotated[int, Field(ge=0)]
    probe_titles: Annotated[int, Field(ge=0)]


class ExtraWordsParams(Params):
    """Section `extra_words`: shares of the mined inputs by part, and titles padded by ourselves."""

    test_share: Share
    valid_share: Share
    gate_share: Share
    padded: Annotated[int, Field(ge=0)]

    @model_validator(mode="after")
    def _something_is_left(self) -> Self:
        # rounded, because 0.56 + 0.34 + 0.1 and the like end a hair above 1
        total = round(self.test_share + self.valid_share + self.gate_share, 9)
        if total > 1:
            raise ValueError(
                f"test_share + valid_share + gate_share = {total:g}; lower them to 1 or less"
            )
        return self


class ScoreParams(Params):
    """Section `score`: who judges the predictions of stage 3, and when."""

    reviewer_id: str
    judged_at: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]


class FeedbackParams(Params):
    """Section `feedback`: where people's verdicts stand."""

    reader: Literal["table"]
    file: str
    columns: dict[str, str]
    max_rejected_share: Share


NewShare = Annotated[float, Field(ge=0, lt=1)]


class SharesParams(Params):
    """`pairs.shares`: of the similar pairs of the stage that adds the source."""

    typo: NewShare
    synonym: NewShare
    extra_words: NewShare
    feedback: NewShare


class PairsParams(Params):
    """Section `pairs`: how many, in which ratio, and which share each source has."""

    rounds: Count
    dissimilar_per_similar: Annotated[int, Field(ge=0)]
    shares: SharesParams
    outranked: Literal["dropped", "kept"]
    row_group: Annotated[int, Field(ge=1024)]


class KindParams(Params):
    """`train.encoder` or `train.loss`: a section of `encoders` or `losses`."""

    kind: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]


class TrainParams(Params):
    """Section `train`: the same for every stage number and seed; see `tasks/network_params.py`."""

    encoder: KindParams
    loss: KindParams
    compatible_with: Annotated[str, Field(pattern=r"^(models:/[^/@]+(/\d+|@[^/@]+))?$")]
    batch_pairs: Annotated[int, Field(ge=2)]
    learning_rate: Annotated[float, Field(gt=0)]
    schedule: Literal["constant", "linear"]
    l2: Annotated[float, Field(ge=0)]
    clip_norm: Annotated[float, Field(gt=0)]
    max_steps: Annotated[int, Field(ge=0)]
    evaluate_every: Count
    patience: Count


class PairFilesParams(Params):
    """`scored_pairs.files`: files, or a folder where the publishers have several."""

    sentences: str
    words: str
    paraphrases: str


class ScoredPairsParams(Params):
    """Section `scored_pairs`: the outside files of the similarity track."""

    reader: Literal["sample", "published"]
    files: PairFilesParams
    valid_paraphrases: Annotated[int, Field(ge=0)]
    max_rejected_share: Share


Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]


class SystemParams(Params):
    """One of `similarity.systems`; see `tasks/similarity_params.py`."""

    trained_on: str
    encoder: dict[str, Any]
    loss: dict[str, Any]
    train: dict[str, Any]

    @model_validator(mode="after")
    def _kinds_are_named(self) -> Self:
        for name, values in (("encoder", self.encoder), ("loss", self.loss)):
            if not isinstance(values.get("kind"), str):
                raise ValueError(f"{name} names no kind; write {name}: {{kind: ...}}")
        return self


class SimilarityParams(Params):
    """Section `similarity`: which systems are trained, with which seeds, and what each is."""

    names: Annotated[list[Name], Field(min_length=1)]
    seeds: Annotated[list[int], Field(min_length=1)]
    systems: dict[Name, SystemParams]
    bootstrap_draws: Count

    @model_validator(mode="after")
    def _names_are_systems(self) -> Self:
        for name, values in (("names", self.names), ("seeds", self.seeds)):
            if len(set(values)) < len(values):
                raise ValueError(f"{name} {values}: the same one twice trains it twice")
        unknown = [name for name in self.names if name not in self.systems]
        if unknown:
            raise ValueError(f"names {unknown} are no systems; choose {', '.join(self.systems)}")
        return self


class LexicalParams(Params):
    """Section `lexical`: orders of the character n-grams of TF-IDF, smallest and largest."""

    tfidf_orders: Annotated[list[Count], Field(min_length=2, max_length=2)]


class EvaluateParams(Params):
    """Section `evaluate`."""

    occupation_score: Literal["best", "soft"]
    soft_temperature: Annotated[float, Field(gt=0)]
    run_depth: Count
    bootstrap_draws: Count


class Table3Params(Params):
    """Section `table3`: of the intervals of gains; Holm over three tests needs some hundred."""

    bootstrap_draws: Annotated[int, Field(ge=200)]


class ReportParams(Params):
    """Section `report`."""

    neighbours: Count
    confusions: Count


class RegisterParams(Params):
    """Section `register`: the registry's name of the model and its default number of answers."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$")]
    top_k: Count
