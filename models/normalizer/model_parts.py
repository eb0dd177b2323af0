"""The parts of a model: tables as they are loaded, and what is made of them when first needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from models.normalizer.abbreviations import Abbreviations
from models.normalizer.answers.abstention import InputValidator
from models.normalizer.answers.finding import Finding
from models.normalizer.answers.table import AnswerTable
from models.normalizer.confidence import Confidence
from models.normalizer.exact_match import ExactMatch
from models.normalizer.many_qualifiers import ManyQualifiers
from models.normalizer.many_words import ManyWords
from models.normalizer.qualifiers import Qualifiers
from models.normalizer.taxonomy_labels import TaxonomyLabels
from models.search.calibration import Calibration, Levels
from models.search.exemplars import Exemplars
from models.search.index import AliasIndex
from models.search.occupation_scores import ScoreRule
from models.search.prototypes import Prototypes
from models.search.search import Search
from models.search.stored_vectors import StoredVectors, similarities
from models.search.title_places import TitlePlaces
from models.search.two_stage_search import FEW, TwoStageSearch
from models.search.words.respelling import Respelling
from models.search.words.title_words import TitleWords
from models.text.featurizer import Featurizer
from models.text.titles import clean_title

if TYPE_CHECKING:
    from jaxtyping import Float32, Int

Embed = Callable[[Sequence[str]], "Float32[np.ndarray, 'title dim']"]
Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class ModelParts:
    """Everything that answers.

    Attributes:
        featurizer: of the network; knows its letters and which titles are truncated.
        embed: cleaned titles to embeddings of unit norm.
        aliases: columns `occupation_id, title` (cleaned), `written` (as the taxonomy has it),
            `language`, `preferred` and `split`, a row a title, occupation and language.
        occupations: columns `occupation_id, occupation_label, codes, crosswalk_codes, bias`.
        exemplars: columns `title, occupation_id, weight, source` (`models/search/exemplars.py`).
        overrides: columns `normalized, occupation_id, correct`, by people; None: not a job title.
        embeddings: of the titles of `index`, in its order, and then of the exemplars in theirs.
        rule: how occupations score.
        calibration: of the confidence, if there is one.
        qualifiers: finds words of seniority, contract and place.
        versions: the columns `model_version` and `taxonomy_version`.
        top_k: default number of answers.
        words: of the titles.
        groups: labels of the codes above the occupations, as far as the taxonomy names them.
        prototypes: of the occupations, if they were gathered before.
        abbreviations: that are written out before a title is searched.
    """

    featurizer: Featurizer
    embed: Embed
    aliases: Columns
    occupations: Columns
    exemplars: Columns
    overrides: Columns
    embeddings: StoredVectors
    rule: ScoreRule
    calibration: Calibration | None
    qualifiers: Qualifiers
    versions: Mapping[str, str]
    top_k: int
    words: TitleWords
    groups: Mapping[str, str] = field(default_factory=dict)
    prototypes: Prototypes | None = None
    abbreviations: Abbreviations = field(default_factory=Abbreviations)

    @cached_property
    def index(self) -> AliasIndex:
        """All aliases of the taxonomy."""
        columns = (self.aliases[name] for name in ("title", "occupation_id", "language"))
        return AliasIndex.of(*columns)

    @cached_property
    def title_places(self) -> TitlePlaces:
        """Finds titles of `index`."""
        return TitlePlaces(self.index)

    @cached_property
    def search(self) -> Search:
        """Search all of `index` with cleaned titles."""
        return self._search(self.index, slice(None))

    @cached_property
    def two_stage_search(self) -> TwoStageSearch | None:
        """The same with less work, where that loses little; or None."""
        if len(self.index.occupations) < FEW or self.rule.kind != "soft":
            return None
        return TwoStageSearch(
            self.search, self.embed, self.embeddings, self.title_places, self.prototypes
        )

    @cached_property
    def exact_match(self) -> ExactMatch:
        """Overrides by people, and the taxonomy's own titles."""
        labels = [clean_title(label) for label in self.taxonomy_labels.labels]
        is_label = self.taxonomy_labels.spellings.is_label
        return ExactMatch.of(
            self.title_places, labels, self.overrides, is_label, self.exemplars, self.words.endings
        )

    def within(self, index: AliasIndex) -> Search:
        """Search another index whose titles are all in this one's, such as that of a split.

        Raises:
            KeyError: a title is none of the taxonomy's.
        """
        places = self.title_places(index.titles)
        if (places < 0).any():
            raise KeyError(index.titles[int(places.argmin())])
        beyond = np.arange(len(self.index.titles), len(self.embeddings))
        return self._search(index, np.concatenate([places, beyond]))

    def _search(self, index: AliasIndex, rows: Int[np.ndarray, " title"] | slice) -> Search:
        bias = dict(zip(self.occupations["occupation_id"], self.occupations["bias"], strict=True))
        exemplars = Exemplars.of(index, bias, self.exemplars, self.rule.temperature)
        table = cache(lambda: self.embeddings[rows])  # large, and often not needed
        return Search(
            index, lambda titles: similarities(self.embed(titles), table()), self.rule, exemplars
        )

    @cached_property
    def finding(self) -> Finding:
        """Says what is found, how sure that is, and whether it is an answer."""
        return Finding(
            self.exact_match,
            self.confidence,
            self.taxonomy_labels,
            self.featurizer,
            self.embed,
            self.embeddings,
        )

    @cached_property
    def answer_table(self) -> AnswerTable:
        """Makes the table of answers."""
        return AnswerTable(self.taxonomy_labels, self.versions)

    @cached_property
    def confidence(self) -> Confidence | None:
        """Says how certain answers are, if the model is calibrated."""
        if self.calibration is None:
            return None
        return Confidence(
            self.calibration,
            self.hierarchy,
            self.title_places,
            self.taxonomy_labels.spellings,
            self.many_words,
        )

    @cached_property
    def hierarchy(self) -> Levels:
        """The hierarchy above the occupations of `index`."""
        return Levels.of(self.taxonomy_labels.codes.tolist())

    @cached_property
    def validator(self) -> InputValidator:
        """Says what can be read, and how."""
        return InputValidator(
            self.featurizer.alphabet,
            self.exact_match.known,
            self.exact_match.are_none,
            ManyQualifiers(self.qualifiers),
            self.many_words.respelled,
        )

    @cached_property
    def many_words(self) -> ManyWords:
        """Reads the words of titles."""
        return ManyWords(
            Respelling(self.words, self.exact_match),
            self.exact_match.known,
            self.index.titles,
            self.taxonomy_labels.spellings.labels,
            self.abbreviations,
        )

    @cached_property
    def taxonomy_labels(self) -> TaxonomyLabels:
        """How the taxonomy calls what `index` numbers."""
        return TaxonomyLabels.of(self.index, self.aliases, self.occupations)
