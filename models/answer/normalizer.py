"""The normalizer: raw titles in, one answer or abstention each out; numpy alone.

It is put into the file that consumers load (`tasks/artefact/serving_file.py`), and what the gate
judges is this class in a loaded model. Without a calibration confidence is null with the reason
`uncalibrated`: a score is never one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from models.answer.abstention import NO_JOB_TITLE, UNSURE, abstention
from models.answer.answer import UNCALIBRATED, Answer
from models.answer.calibration import Calibration, Levels
from models.answer.evidence import Evidence, posterior
from models.answer.index import AliasIndex
from models.answer.occupation_scores import ScoreRule
from models.answer.search import Hits, Search
from models.text.featurizer import Featurizer
from models.text.titles import clean_title

if TYPE_CHECKING:
    from jaxtyping import Float32

Embed = Callable[[Sequence[str]], "Float32[np.ndarray, 'title dim']"]
Columns = Mapping[str, list[Any]]


@dataclass(frozen=True)
class Normalizer:
    """Everything that answers.

    Attributes:
        featurizer: of the network; says what was cut and which letters are known.
        embed: cleaned titles to embeddings of unit norm.
        aliases: columns `occupation_id, title` (cleaned), `written` (as the taxonomy has it) and
            `split`, a row a title and occupation.
        occupations: columns `occupation_id, occupation_label, codes, bias`.
        exemplars: columns `title, occupation_id, weight` (`models/answer/evidence.py`).
        embeddings: of the titles of `index`, in its order, and then of the exemplars in theirs.
        rule: how occupations score.
        calibration: of the confidence, if there is one.
        top_k: default number of answers.
    """

    featurizer: Featurizer
    embed: Embed
    aliases: Columns
    occupations: Columns
    exemplars: Columns
    embeddings: Float32[np.ndarray, "title dim"]
    rule: ScoreRule
    calibration: Calibration | None
    top_k: int

    @cached_property
    def index(self) -> AliasIndex:
        """All aliases of the taxonomy."""
        return AliasIndex.of(self.aliases["title"], self.aliases["occupation_id"])

    @cached_property
    def search(self) -> Search:
        """All of `index`, asked with cleaned titles."""
        return self._search(self.index, self.embeddings)

    def within(self, index: AliasIndex) -> Search:
        """Search another index whose titles are all in this one's, such as that of a split.

        Raises:
            KeyError: a title is none of the taxonomy's.
        """
        place = {title: row for row, title in enumerate(self.index.titles)}
        rows = [place[title] for title in index.titles]
        beyond = range(len(place), len(self.embeddings))
        return self._search(index, self.embeddings[[*rows, *beyond]])

    def _search(self, index: AliasIndex, embeddings: Float32[np.ndarray, "title dim"]) -> Search:
        bias = dict(zip(self.occupations["occupation_id"], self.occupations["bias"], strict=True))
        evidence = Evidence.of(index, bias, self.exemplars, self.rule.temperature)
        return Search(index, lambda titles: self.embed(titles) @ embeddings.T, self.rule, evidence)

    def predict(
        self,
        raw_titles: Sequence[object],
        top_k: int | None = None,
        min_confidence: float | None = None,
    ) -> list[Answer]:
        """Answer each raw title, in their order.

        Args:
            raw_titles: values of any type; what is no text gets an abstention.
            top_k: length of the lists, 1 or more; None is the model's own.
            min_confidence: below it the model abstains; None or 0 asks for nothing.

        Raises:
            ValueError: `top_k` is below 1, `min_confidence` is no chance, or it is asked of a model
                without calibration, which would have to filter by something that it does not know.
        """
        depth = self._depth(top_k)
        least = self._least(min_confidence)
        reasons = [abstention(title, *self._readable) for title in raw_titles]
        readable = [
            clean_title(str(title))
            for title, reason in zip(raw_titles, reasons, strict=True)
            if reason is None
        ]
        answers = self._answers(readable, depth, least)
        return [Answer.abstain(reason) if reason else next(answers) for reason in reasons]

    def _depth(self, top_k: int | None) -> int:
        depth = self.top_k if top_k is None else int(top_k)
        if depth < 1:
            raise ValueError(f"top_k = {depth}; it must be 1 or more")
        return depth

    def _least(self, min_confidence: float | None) -> float:
        least = float(min_confidence or 0)
        if not 0 <= least <= 1:
            raise ValueError(f"min_confidence = {least:g}; it is a chance, from 0 to 1")
        if least and self.calibration is None:
            raise ValueError(
                f"min_confidence = {least:g}: this model is not calibrated, so it has no "
                "confidence to compare; leave it out, or compare `score` yourself"
            )
        return least

    def _answers(self, titles: list[str], depth: int, least: float) -> Iterator[Answer]:
        for place, hits in self.search.blocks(titles, depth):
            cut = self.featurizer(titles[place]).cut.tolist()
            unlike = self._unlike_titles(titles[place], hits)
            for row, sure in enumerate(self._confidences(hits)):
                if unlike[row]:
                    yield Answer.abstain(NO_JOB_TITLE)
                elif sure and sure[-1] < least:
                    yield Answer.abstain(UNSURE)
                else:
                    yield self._answer(row, hits, cut[row], sure)

    def _unlike_titles(self, titles: list[str], hits: Hits) -> list[bool]:
        """Say which read like no job title; none without calibration."""
        if self.calibration is None:
            return [False] * len(titles)
        familiarity = self.search.familiarity(titles, hits.closest)
        unlike: list[bool] = (familiarity < self.calibration.familiar).tolist()
        return unlike

    def _confidences(self, hits: Hits) -> list[list[float]]:
        """Return how certain each answer is at every level, or nothing without calibration."""
        if self.calibration is None:
            return [[] for _ in hits.closest]
        chances = posterior(hits.scores, self.calibration.temperature)
        shares = self._levels.shares(chances, hits.occupations[:, 0])
        confidences: list[list[float]] = self.calibration(shares).tolist()
        return confidences

    def _answer(self, row: int, hits: Hits, cut: bool, sure: list[float]) -> Answer:
        codes = hits.occupations[row].tolist()
        identifiers = [self.index.occupations[code] for code in codes]
        matched = [
            self._written[self.index.titles[title], identifier]
            for title, identifier in zip(hits.titles[row], identifiers, strict=True)
        ]
        scores = hits.scores[row, codes].astype(float).tolist()
        label, hierarchy = self._known[identifiers[0]]
        return Answer(
            occupation_id=identifiers[0],
            occupation_label=label,
            codes=hierarchy,
            matched_title=matched[0],
            score=scores[0],
            confidence=sure[-1] if sure else None,
            code_confidences=sure[: len(hierarchy)] if sure else [],
            reason=None if sure else UNCALIBRATED,
            cut=cut,
            top_occupation_ids=identifiers,
            top_titles=matched,
            top_scores=scores,
        )

    @cached_property
    def _levels(self) -> Levels:
        """The hierarchy above the occupations of `index`."""
        return Levels.of([self._known[name][1] for name in self.index.occupations])

    @cached_property
    def _readable(self) -> tuple[frozenset[str], frozenset[str]]:
        """Known characters, and the titles that are answered whatever they are made of."""
        return frozenset(self.featurizer.alphabet), frozenset(self.index.titles)

    @cached_property
    def _written(self) -> dict[tuple[str, str], str]:
        """The taxonomy's first spelling of each cleaned title and occupation."""
        names = zip(self.aliases["title"], self.aliases["occupation_id"], strict=True)
        spellings = zip(names, self.aliases["written"], strict=True)
        return dict(reversed(list(spellings)))

    @cached_property
    def _known(self) -> dict[str, tuple[str, list[str]]]:
        """Label and codes of each occupation."""
        label_and_codes = zip(
            self.occupations["occupation_label"], self.occupations["codes"], strict=True
        )
        return dict(zip(self.occupations["occupation_id"], label_and_codes, strict=True))
