"""From the occupations that a search found to what is answered: how sure, why not, decided by what.

Without a calibration, confidence is null and the reason is `uncalibrated`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from models.normalizer.answers.abstention import CODES, UNSURE
from models.normalizer.answers.columns import UNCALIBRATED
from models.normalizer.answers.table import Found
from models.normalizer.answers.truncated_titles import are_truncated
from models.normalizer.confidence import Confidence
from models.normalizer.exact_match import DECIDED_BY, ExactMatch
from models.normalizer.predict_params import PredictParams
from models.normalizer.taxonomy_labels import TaxonomyLabels
from models.search.search import Hits
from models.search.stored_vectors import StoredVectors
from models.text.featurizer import Featurizer

if TYPE_CHECKING:
    from collections.abc import Callable

    from jaxtyping import Float32, Int


@dataclass(frozen=True, eq=False)
class Finding:
    """Says of titles what is found, how sure that is, and whether it is an answer.

    Attributes:
        exact_match: overrides by people, and the taxonomy's own titles.
        confidence: of a calibrated model.
        labels: of the taxonomy.
        featurizer: knows which titles are truncated.
        embed: cleaned titles to embeddings of unit norm.
        embeddings: of the taxonomy's titles.
    """

    exact_match: ExactMatch
    confidence: Confidence | None
    labels: TaxonomyLabels
    featurizer: Featurizer
    embed: Callable[[Sequence[str]], Float32[np.ndarray, "title dim"]]
    embeddings: StoredVectors

    def __call__(self, titles: Sequence[str], hits: Hits, params: PredictParams) -> Found:
        """Judge the hits of cleaned titles."""
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
            narrow = self.labels.confident_codes(sure, best[:, 0], params.confident_from)
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
        spellings = self.labels.spellings
        if spellings.are_in(language, hits.occupations, hits.titles).all():
            return hits.titles
        return spellings.closest(
            language, hits.occupations, hits.titles, self.embed(titles), self.embeddings
        )
