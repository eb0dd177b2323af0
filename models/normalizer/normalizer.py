"""The normalizer: raw titles in, one answer or abstention each out; numpy and Arrow alone.

The file that consumers load contains it (`tasks/release/model_package/serving_file.py`); the gate
judges this class in a loaded model. Without a calibration, confidence is null and the reason is
`uncalibrated`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from models.normalizer.abbreviations import Abbreviations
from models.normalizer.answers.abstention import CODES, UNSURE, InputValidator
from models.normalizer.answers.columns import UNCALIBRATED, Answers
from models.normalizer.answers.table import AnswerTable, Found
from models.normalizer.confidence import Confidence
from models.normalizer.exact_match import DECIDED_BY, ExactMatch
from models.normalizer.many_qualifiers import ManyQualifiers
from models.normalizer.many_words import ManyWords
from models.normalizer.predict_params import PredictParams
from models.normalizer.qualifiers import Qualifiers
from models.normalizer.taxonomy_labels import TaxonomyLabels
from models.normalizer.text_kernels import text_kernels_at_hand
from models.normalizer.truncated_titles import are_truncated
from models.search.calibration import Calibration, Levels
from models.search.compiling import threads
from models.search.exemplars import Exemplars
from models.search.index import AliasIndex
from models.search.kernels import Kernels, kernels_for
from models.search.occupation_scores import ScoreRule
from models.search.prototypes import Prototypes
from models.search.search import Hits, Search
from models.search.stored_vectors import StoredVectors, similarities
from models.search.title_places import TitlePlaces
from models.search.two_stage_search import DEPTH, FEW, LOT, TwoStageSearch
from models.search.words.respelling import Respelling
from models.search.words.title_words import TitleWords
from models.text.featurizer import Featurizer
from models.text.titles import clean_title

if TYPE_CHECKING:
    from jaxtyping import Float32, Int

Embed = Callable[[Sequence[str]], "Float32[np.ndarray, 'title dim']"]
Columns = Mapping[str, Sequence[Any]]
PREPARING = Lock()
"""Of several threads that answer one compiles."""
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
        with PREPARING:
            kernels = kernels_for(len(raw_titles)) if self.two_stage_search else None
            text_kernels_at_hand()  # before the threads ask for them
        lots = [raw_titles[at : at + LOT] for at in range(0, len(raw_titles), LOT)]
        if len(lots) < 2:
            return Answers(self._lot(raw_titles, params, kernels))
        with ThreadPoolExecutor(threads()) as pool:
            tables = [*pool.map(lambda lot: self._lot(lot, params, kernels), lots)]
        return Answers(pa.concat_tables(tables))

    def _lot(
        self, raw_titles: Sequence[object], params: PredictParams, kernels: Kernels | None
    ) -> pa.Table:
        """Answer a lot of raw titles."""
        checked = self.validator(raw_titles)
        read = checked.readable
        depth, few = max(params.top_k, 2), self.two_stage_search
        spare = min(self.exact_match.most_rejected, max(DEPTH - depth, 0))
        memory = None
        if few and depth <= DEPTH:
            memory = self._memory()
            ranked = few.hits(read, depth + spare, kernels, memory)
        else:
            ranked = self.search.hits(read, depth + spare)
        found = self._found(read, self.exact_match.accepted(read, ranked, depth), params)
        if memory is not None:
            self._spare.append(memory)  # no scores are read any more
        return self.answer_table(
            checked.reasons,
            checked.qualified,
            found,
            params,
            RUNNER_UP * (self.calibration or self.rule).temperature,
        )

    def _memory(self) -> Float32[np.ndarray, "lot occupation"]:
        """Return memory for the scores of a lot."""
        with suppress(IndexError):  # all is in use
            return self._spare.pop()
        return np.empty((LOT, len(self.index.occupations)), np.float32)

    @cached_property
    def _spare(self) -> deque[Float32[np.ndarray, "lot occupation"]]:
        """Memory that was used before: to clear what is new takes a tenth of the time."""
        return deque(maxlen=threads())

    def _found(self, titles: Sequence[str], hits: Hits, params: PredictParams) -> Found:
        """Say of titles what is found, how sure that is, and whether it is an answer."""
        decisions = self.exact_match(titles, hits)
        matched = hits.titles.copy()
        count, best = len(titles), hits.occupations
        sure, narrow = np.full((count, 1), np.nan), np.full(count, -1)
        reasons, answered = np.full(count, CODES[UNCALIBRATED]), np.ones(count, bool)
        decided_by = np.zeros(count, np.int64)
        for row, decision in decisions.items():
            decided_by[row] = DECIDED_BY.index(decision.by)
        if self.confidence is not None:
            sure = self.confidence(titles, hits, decisions)
            reasons = self.confidence.rejections(titles, hits, decisions)
            rejected = reasons > 0
            unsure = sure[:, params.code_depth - 1] < params.min_confidence
            reasons[unsure & ~rejected] = CODES[UNSURE]
            answered = ~(rejected | unsure)
            least = params.confident_from
            narrow = self.taxonomy_labels.confident_codes(sure, best[:, 0], least)
            narrow[rejected] = -1
        if params.language is not None:
            own = [title for title, is_answer in zip(titles, answered, strict=True) if is_answer]
            few = Hits(*(column[answered] for column in hits))
            matched[answered] = self._matched(own, few, params.language)
        return Found(
            best,
            hits.titles,
            matched,
            hits.scores[np.arange(count)[:, None], best].astype(float),
            sure,
            narrow,
            reasons,
            answered,
            decided_by,
            are_truncated(titles, self.featurizer),
        )

    def _matched(self, titles: list[str], hits: Hits, language: int) -> Int[np.ndarray, "query k"]:
        """Return the closest titles of hits in a language, as they are where there is none."""
        spellings = self.taxonomy_labels.spellings
        if spellings.are_in(language, hits.occupations, hits.titles).all():
            return hits.titles
        return spellings.closest(
            language, hits.occupations, hits.titles, self.embed(titles), self.embeddings
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
