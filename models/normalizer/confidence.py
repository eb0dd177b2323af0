"""How certain answers are, and which titles are rejected as unlike any job title."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from models.normalizer.answers.abstention import CODES, why_rejected
from models.normalizer.exact_match import Decision
from models.normalizer.loops.title_lot import TitleLot
from models.normalizer.many_words import ManyWords
from models.normalizer.spellings import Spellings
from models.search.calibration import Calibration, Levels
from models.search.exemplars import LABEL
from models.search.ood_score import SINGLE, OodScore
from models.search.search import Hits
from models.search.title_places import TitlePlaces

if TYPE_CHECKING:
    from jaxtyping import Float64, Int64

LONGEST_ABBREVIATION = 5
VOWELS = frozenset("aeiouyäöüåæøœáéíóúàèìòùâêîôûãõőűěůýąęėįųūāēīăαεηιουωаеиоуъыэюяіїє")


@dataclass(frozen=True)
class Confidence:
    """Confidence of the hits of an index, and rejections.

    Attributes:
        calibration: fitted on labelled titles.
        hierarchy: above the occupations of an index.
        places: finds titles of this index of all aliases.
        spellings: of the titles of the index.
        many_words: compares the words of titles.
    """

    calibration: Calibration
    hierarchy: Levels
    places: TitlePlaces
    spellings: Spellings
    many_words: ManyWords

    def __call__(
        self, titles: Sequence[str], hits: Hits, decisions: Mapping[int, Decision]
    ) -> Float64[np.ndarray, "query level"]:
        """Return how certain each answer is at every level, the occupation last.

        The network's confidence counts unless the title is a label of the taxonomy. Owners of one
        title are equally likely. A label that came with the data is not surer than two labels of
        one title agree.
        """
        calibration, answers = self.calibration, hits.occupations[:, 0]
        shares = self.hierarchy.shares(hits.scores, calibration.temperature, answers)
        labels = self.spellings.label_numbers(answers, hits.titles[:, 0])
        words = self.many_words.word_evidence(titles, hits.titles[:, 0], labels, hits.closest)
        sure = calibration(shares, words)
        for row, (by, owners, settled) in decisions.items():
            if owners and len(calibration.exact):
                most = np.array(calibration.exact)
                if len(owners) > 1 or owners[0] != answers[row]:
                    answer = np.full(len(owners), answers[row])
                    most *= self.hierarchy.agree(answer, np.array(owners)).mean(axis=0)
                sure[row] = most if settled else np.minimum(sure[row], most)
            elif by == LABEL and len(calibration.agreement):
                sure[row] = np.minimum(sure[row], calibration.agreement)
        return sure

    def rejections(
        self, titles: Sequence[str], hits: Hits, decisions: Mapping[int, Decision]
    ) -> Int64[np.ndarray, " query"]:
        """Return why a title is rejected, by the places of `REASONS`; 0 if it is not.

        It is unlike all others, and no abbreviation either.
        """
        least, codes = self.calibration.ood_threshold, np.zeros(len(titles), np.int64)
        words, closest = self.many_words.respelling.words, hits.closest.astype(np.float64)
        most = np.full(len(titles), SINGLE)  # a score is no higher than that less the closeness
        if isinstance(titles, TitleLot):
            most[np.diff(titles.words.firsts) != 1] = 0.0
        far = np.flatnonzero(most - closest > least)
        own = [titles[row] for row in far.tolist()]
        scores = OodScore((), words.endings)(own, closest[far])
        for row, title in compress(zip(far.tolist(), own, strict=True), scores > least):
            if not (row in decisions or is_abbreviation(title) or title in self.places):
                codes[row] = CODES[why_rejected(title, words.counts)]
        return codes


def is_abbreviation(title: str) -> bool:
    """Say whether a title is a few letters without a vowel: nobody can pronounce "hrbp"."""
    return 1 < len(title) <= LONGEST_ABBREVIATION and title.isalpha() and VOWELS.isdisjoint(title)
