"""The normalizer: raw titles in, one answer or abstention each out; numpy alone.

The file that consumers load contains it (`tasks/release/model_package/serving_file.py`); the gate
judges this class in a loaded model. Without a calibration, confidence is null and the reason is
`uncalibrated`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from models.normalizer.abbreviations import Abbreviations
from models.normalizer.answers.abstention import UNSURE, InputValidator
from models.normalizer.answers.columns import UNCALIBRATED, Answers
from models.normalizer.confidence import Confidence
from models.normalizer.exact_match import Decision, ExactMatch
from models.normalizer.predict_params import PredictParams
from models.normalizer.qualifiers import KINDS, Qualifiers
from models.normalizer.taxonomy_labels import TaxonomyLabels
from models.normalizer.truncated_titles import are_truncated
from models.search.calibration import Calibration, Levels
from models.search.exemplars import Exemplars
from models.search.index import AliasIndex
from models.search.occupation_scores import ScoreRule
from models.search.search import Hits, Search
from models.search.stored_vectors import StoredVectors
from models.search.tiled_matmul import similarities
from models.search.two_stage_search import DEPTH, FEW, TwoStageSearch
from models.search.weighted_vectors import Prototypes
from models.search.words.respelling import Respelling
from models.search.words.title_words import TitleWords
from models.search.words.word_evidence import WordEvidence
from models.text.featurizer import Featurizer
from models.text.titles import clean_title, shortened

if TYPE_CHECKING:
    from jaxtyping import Float32, Int

Embed = Callable[[Sequence[str]], "Float32[np.ndarray, 'title dim']"]
Columns = Mapping[str, Sequence[Any]]
RUNNER_UP = np.log(2)
"""The second occupation is at least half as likely as the first: e^(−margin/t) ≥ ½."""


@dataclass(frozen=True)
class Normalizer:
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
    def search(self) -> Search:
        """Search all of `index` with cleaned titles."""
        return self._search(self.index, slice(None))

    @cached_property
    def two_stage_search(self) -> TwoStageSearch | None:
        """The same with less work, where that loses little; or None."""
        if len(self.index.occupations) < FEW or self.rule.kind != "soft":
            return None
        return TwoStageSearch(self.search, self.embed, self.embeddings, self.prototypes)

    @cached_property
    def exact_match(self) -> ExactMatch:
        """Overrides by people, and the taxonomy's own titles."""
        labels = [clean_title(label) for label in self.taxonomy_labels.labels]
        is_label = self.taxonomy_labels.spellings.is_label
        return ExactMatch.of(
            self.index, labels, self.overrides, is_label, self.exemplars, self.words.endings
        )

    def within(self, index: AliasIndex) -> Search:
        """Search another index whose titles are all in this one's, such as that of a split.

        Raises:
            KeyError: a title is none of the taxonomy's.
        """
        place = {title: row for row, title in enumerate(self.index.titles)}
        beyond = range(len(place), len(self.embeddings))
        return self._search(index, np.array([*(place[one] for one in index.titles), *beyond]))

    def _search(self, index: AliasIndex, rows: Int[np.ndarray, " title"] | slice) -> Search:
        bias = dict(zip(self.occupations["occupation_id"], self.occupations["bias"], strict=True))
        exemplars = Exemplars.of(index, bias, self.exemplars, self.rule.temperature)
        table = cache(lambda: self.embeddings[rows])  # large, and often not needed
        return Search(
            index, lambda titles: similarities(self.embed(titles), table()), self.rule, exemplars
        )

    def predict(
        self,
        raw_titles: Sequence[object],
        top_k: int | None = None,
        min_confidence: float | None = None,
        code_depth: int | None = None,
        language: str | None = None,
    ) -> Answers:
        """Answer each raw title, in their order.

        Args:
            raw_titles: values of any type; what is no text gets an abstention.
            top_k: length of the lists; None is the model's own.
            min_confidence: below it the model abstains; None or 0 asks for nothing.
            code_depth: how many of `codes` to return; `min_confidence` then applies to the last of
                them. None or 0: all of them, and the occupation itself.
            language: of labels and titles in the answer, where the taxonomy has them in it; None
                or empty is that of the closest alias.

        Raises:
            ValueError: a parameter is out of range (`models/normalizer/predict_params.py`).
        """
        params = PredictParams.of(
            self.top_k if top_k is None else top_k,
            min_confidence,
            code_depth,
            language,
            depth=len(self.hierarchy) - 1,
            languages=self.taxonomy_labels.spellings.languages,
            calibrated=self.calibration is not None,
        )
        validated = [self.validator(raw_title) for raw_title in raw_titles]
        answers = Answers.abstaining([title.reason for title in validated])
        rows = [row for row, title in enumerate(validated) if title.reason is None]
        titles = [validated[row].title for row in rows]
        answers.put(np.arange(len(answers)), **self.versions)
        words = [self.qualifiers(shortened(str(raw_titles[row]))) for row in rows]
        answers.put(np.array(rows, int), **{kind: [one[kind] for one in words] for kind in KINDS})
        depth = max(params.top_k, 2)
        search = self.two_stage_search if self.two_stage_search and depth <= DEPTH else self.search
        spare = min(self.exact_match.most_rejected, max(DEPTH - depth, 0))
        for place, ranked in search.blocks(titles, depth + spare):
            hits = self.exact_match.accepted(titles[place], ranked, depth)
            decisions = self.exact_match(titles[place], hits)
            self._answer(answers, np.array(rows[place]), titles[place], hits, decisions, params)
        return answers

    def _answer(
        self,
        answers: Answers,
        rows: Int[np.ndarray, " query"],
        titles: list[str],
        hits: Hits,
        decisions: Sequence[Decision],
        params: PredictParams,
    ) -> None:
        """Write the answers to a block of titles."""
        sure = None
        answered = np.ones(len(rows), bool)
        if self.confidence is not None:
            sure = self.confidence(titles, hits, decisions)
            answered = sure[:, params.code_depth - 1] >= params.min_confidence
            reasons = self.confidence.rejections(titles, hits, decisions)
            ood = np.array([reason is not None for reason in reasons], bool)
            codes = self.taxonomy_labels.confident_codes(
                sure, hits.occupations[:, 0], params.confident_from
            )
            answers.put(rows[~ood], best_confident_code=codes[~ood])
            answers.put(rows[~answered], reason=UNSURE)
            answers.put(rows[ood], reason=list(filter(None, reasons)))
            answered &= ~ood
        kept_hits = Hits(*(column[answered] for column in hits))
        kept_titles = [title for title, kept in zip(titles, answered, strict=True) if kept]
        truncated = are_truncated(kept_titles, self.featurizer)
        near = RUNNER_UP * (self.calibration or self.rule).temperature
        kept_sure = None if sure is None else sure[answered]
        matched = self._matched(kept_titles, kept_hits, params.language)
        columns = self.taxonomy_labels.answer_columns(kept_hits, matched, kept_sure, params, near)
        decided_by = np.array([decision.by for decision in decisions], object)[answered]
        answers.put(rows[answered], truncated=truncated, answered_by=decided_by, **columns)
        if sure is None:
            answers.put(rows, reason=UNCALIBRATED)

    def _matched(
        self, titles: list[str], hits: Hits, language: int | None
    ) -> Int[np.ndarray, "query k"]:
        """Return the closest titles of hits in a language, as they are where there is none."""
        spellings = self.taxonomy_labels.spellings
        if language is None or spellings.are_in(language, hits.occupations, hits.titles).all():
            return hits.titles
        return spellings.closest(
            language, hits.occupations, hits.titles, self.embed(titles), self.embeddings
        )

    @cached_property
    def confidence(self) -> Confidence | None:
        """Says how certain answers are, if the model is calibrated."""
        if self.calibration is None:
            return None
        spellings = self.taxonomy_labels.spellings
        words = WordEvidence(self.words)
        return Confidence(self.calibration, self.hierarchy, self.index, words, spellings)

    @cached_property
    def hierarchy(self) -> Levels:
        """The hierarchy above the occupations of `index`."""
        return Levels.of(self.taxonomy_labels.codes.tolist())

    @cached_property
    def validator(self) -> InputValidator:
        """Says what can be read, and how."""
        return InputValidator.of(
            self.featurizer.alphabet,
            self.exact_match,
            self.exact_match.is_none,
            self.qualifiers.say_no_job,
            self.spelled,
        )

    def spelled(self, title: str) -> str:
        """Return a cleaned title without abbreviations and misspelt words."""
        return self.respelling(self.abbreviations(title))

    @cached_property
    def respelling(self) -> Respelling:
        """Corrects misspelt words to those of the titles."""
        return Respelling(self.words, self.exact_match)

    @cached_property
    def taxonomy_labels(self) -> TaxonomyLabels:
        """How the taxonomy calls what `index` numbers."""
        return TaxonomyLabels.of(self.index, self.aliases, self.occupations)
