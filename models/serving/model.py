"""The normalizer: raw titles in, one answer or abstention each out.

The path of a title: `TitleReader` finds its qualifiers, cleans it and looks it up in the index
(`ExactMatch.resolve`); it corrects an unknown one and looks that up again, or refuses it. The
network embeds it; the search ranks occupations; `ExactMatch` puts the owners of a known title
first; `Confidence` says how sure that is, or rejects it; `AnswerTable` writes the row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from models.serving.answer import Answers, AnswerTable, Found, PredictParams
from models.serving.clean import CODES, UNCALIBRATED, UNSURE, TitleReader
from models.serving.confidence import Calibration, Confidence, Levels
from models.serving.embed import Bag, OnnxNetwork
from models.serving.exact_match import DECIDED_BY, Batch, ExactMatch
from models.serving.index import AliasIndex, StoredVectors, similarities
from models.serving.kernels import threads
from models.serving.labels import TaxonomyLabels
from models.serving.prototypes import Prototypes
from models.serving.qualifiers import Qualifiers
from models.serving.scores import Exemplars, ScoreRule
from models.serving.search import BATCH, DEPTH, Hits, Search, TwoStageSearch
from models.serving.spelling import SpellingCorrector
from models.text.titles import clean_title
from models.text.words import TitleWords

if TYPE_CHECKING:
    from jaxtyping import Bool, Float32, Int

Columns = Mapping[str, Sequence[Any]]
RUNNER_UP = np.log(2)
"""The second occupation is at least half as likely as the first: e^(−margin/t) ≥ ½."""


@dataclass(frozen=True)
class Normalizer:
    """Answers raw titles, batch by batch in threads.

    Its tables are as they are loaded; what is made of them is made when it is first needed.

    Attributes:
        alphabet: characters seen in training.
        network: cleaned titles to embeddings of unit norm.
        aliases: columns `occupation_id, title` (cleaned), `written` (as the taxonomy has it),
            `language`, `preferred` and `split`, a row a title, occupation and language.
        occupations: columns `occupation_id, occupation_label, codes, crosswalk_codes, bias`.
        exemplars: columns `title, occupation_id, weight, source` (`models/serving/scores.py`).
        overrides: columns `normalized, occupation_id, correct`, by people; None: not a job title.
        embeddings: of the titles of `index`, in its order, and then of the exemplars in theirs.
        rule: how occupations score.
        calibration: of the confidence, if there is one.
        qualifiers: finds words of seniority, contract and place.
        versions: the columns `model_version` and `taxonomy_version`.
        top_k: default number of answers.
        words: of the titles.
        groups: labels of the codes above the occupations, as far as the taxonomy names them.
        prototypes: of the occupations, if there are many.
        abbreviations: to what they stand for, both cleaned.
    """

    alphabet: str
    network: Bag | OnnxNetwork
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
    abbreviations: Mapping[str, str] = field(default_factory=dict)

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
            ValueError: a parameter is out of range (`PredictParams`).
        """
        params = PredictParams.of(
            self.top_k if top_k is None else top_k,
            min_confidence,
            code_depth,
            language,
            depth=len(self.hierarchy) - 1,
            languages=self.labels.spellings.languages,
            calibrated=self.calibration is not None,
        )
        batches = [raw_titles[at : at + BATCH] for at in range(0, len(raw_titles), BATCH)]
        if len(batches) < 2:
            return Answers(self._answer(raw_titles, params))
        first = self._answer(batches[0], params)  # alone: what all need is made and compiled once
        with ThreadPoolExecutor(threads()) as pool:
            rest = pool.map(lambda batch: self._answer(batch, params), batches[1:])
            return Answers(pa.concat_tables([first, *rest]))

    def _answer(self, raw_titles: Sequence[object], params: PredictParams) -> pa.Table:
        """Answer a batch of raw titles."""
        refusals, qualified, batch = self.reader(raw_titles)
        vectors, truncated = self.network.embed(batch.titles)
        needed, two_stages = max(params.top_k, 2), self.two_stage_search
        spare = min(self.exact_match.most_rejected, max(DEPTH - needed, 0))  # may be demoted
        if two_stages and needed <= DEPTH:
            positions = np.where(batch.verbatim, batch.positions, -1)
            hits = two_stages.hits(vectors, positions, needed + spare)
        else:
            hits, two_stages = self.search.hits(batch.titles, needed + spare), None  # embeds again
        hits = self.exact_match.demote_rejected(batch, hits, needed)
        found = self._found(batch, vectors, hits, truncated, params)
        if two_stages:
            two_stages.free(hits)
        near = RUNNER_UP * (self.calibration or self.rule).temperature
        return self.answer_table(refusals, qualified, found, params, near)

    def _found(
        self,
        batch: Batch,
        vectors: Float32[np.ndarray, "title dim"],
        hits: Hits,
        truncated: Bool[np.ndarray, " title"],
        params: PredictParams,
    ) -> Found:
        """Say how sure the hits are, and whether they are answers."""
        decisions = self.exact_match(batch, hits)
        count, best, matched = len(batch.titles), hits.occupations, hits.titles
        sure, narrow = np.full((count, 1), np.nan), np.full(count, -1)
        reasons, answered = np.full(count, CODES[UNCALIBRATED]), np.ones(count, bool)
        decided_by = np.zeros(count, np.int64)
        for row, decision in decisions.items():
            decided_by[row] = DECIDED_BY.index(decision.by)
        if self.confidence is not None:
            sure, reasons = self.confidence(batch, hits, decisions)
            rejected = reasons > 0
            unsure = sure[:, params.code_depth - 1] < params.min_confidence  # −1: the occupation
            reasons[unsure & ~rejected] = CODES[UNSURE]
            answered = ~(rejected | unsure)
            narrow = self.labels.confident_codes(sure, best[:, 0], params.confident_from)
            narrow[rejected] = -1
        if params.language is not None:
            closest_in = self.labels.spellings.closest
            matched = closest_in(params.language, best, hits.titles, vectors, self.embeddings)
        scores = hits.scores[np.arange(count)[:, None], best].astype(float)
        titles, kept = hits.titles, (reasons, answered, decided_by, truncated)
        return Found(best, titles, matched, scores, sure, narrow, *kept)

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
        if self.prototypes is None:
            return None
        exemplars = self.exemplars_of(self.index)
        return TwoStageSearch(self.index, self.rule, exemplars, self.embeddings, self.prototypes)

    def within(self, index: AliasIndex) -> Search:
        """Search another index whose titles are all in this one's, such as that of a split.

        Raises:
            KeyError: a title is none of the taxonomy's.
        """
        positions = self.index.positions(index.titles)
        if (positions < 0).any():
            raise KeyError(index.titles[int(positions.argmin())])
        beyond = np.arange(len(self.index.titles), len(self.embeddings))
        return self._search(index, np.concatenate([positions, beyond]))

    def _search(self, index: AliasIndex, rows: Int[np.ndarray, " title"] | slice) -> Search:
        table = cache(lambda: self.embeddings[rows])  # large, and often not needed
        return Search(
            index,
            lambda titles: similarities(self.network(titles), table()),
            self.rule,
            self.exemplars_of(index),
        )

    def exemplars_of(self, index: AliasIndex) -> Exemplars:
        """Return the exemplars and biases of the occupations of an index."""
        bias = dict(zip(self.occupations["occupation_id"], self.occupations["bias"], strict=True))
        return Exemplars.of(index, bias, self.exemplars, self.rule.temperature)

    @cached_property
    def exact_match(self) -> ExactMatch:
        """Overrides by people, and the taxonomy's own titles."""
        labels = [clean_title(label) for label in self.labels.labels]
        is_label = self.labels.spellings.is_label
        return ExactMatch.of(
            self.index, labels, self.overrides, is_label, self.exemplars, self.words.endings
        )

    @cached_property
    def reader(self) -> TitleReader:
        """Says what can be read, and how."""
        match = self.exact_match
        spelling = SpellingCorrector(
            self.words, lambda titles: match.known(match.resolve(titles)), self.abbreviations
        )
        return TitleReader(self.alphabet, match, self.qualifiers, spelling)

    @cached_property
    def confidence(self) -> Confidence | None:
        """Says how certain answers are, if the model is calibrated."""
        if self.calibration is None:
            return None
        return Confidence(
            self.calibration, self.hierarchy, self.index.titles, self.labels.spellings, self.words
        )

    @cached_property
    def hierarchy(self) -> Levels:
        """The hierarchy above the occupations of `index`."""
        return Levels.of(self.labels.codes.tolist())

    @cached_property
    def labels(self) -> TaxonomyLabels:
        """How the taxonomy calls what `index` numbers."""
        return TaxonomyLabels.of(self.index, self.aliases, self.occupations)

    @cached_property
    def answer_table(self) -> AnswerTable:
        """Makes the table of answers."""
        return AnswerTable(self.labels, self.versions)
