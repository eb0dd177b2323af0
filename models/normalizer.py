"""The normalizer: raw titles in, one answer or abstention each out.

It owns featurizer, encoder, the index of aliases and the rule by which occupations score; as files
see `models/normalizer_files.py`. Confidence is null with the reason `uncalibrated` until there is
a calibration: a score, the cosine similarity of `models/occupation_scores.py`, is never one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from models.embedding import embed_titles
from models.encoder import Encoder
from models.featurizer import Featurizer
from models.normalizer_abstention import abstention
from models.normalizer_answer import UNCALIBRATED, Answer
from models.normalizer_index import TitleIndex
from models.occupation_scores import best_scores, best_titles, soft_scores

if TYPE_CHECKING:
    import pyarrow as pa
    from jaxtyping import Float32, Int

BLOCK = 256  # titles scored at once: their similarities to 100,000 titles take 100 MB


@dataclass(frozen=True)
class NormalizerSettings:
    """How occupations score (`evaluate` in `params.yaml`), and how many are given by default."""

    occupation_score: Literal["best", "soft"]
    soft_temperature: float
    top_k: int


@dataclass(frozen=True)
class Normalizer:
    """Everything that answers.

    Attributes:
        aliases: `occupation_id, title, split`; all of the taxonomy, the label first.
        occupations: `occupation_id, occupation_label, codes`.
        embeddings: of the distinct cleaned titles of `aliases`, in sorted order.
    """

    featurizer: Featurizer
    encoder: Encoder
    aliases: pa.Table
    occupations: pa.Table
    settings: NormalizerSettings
    embeddings: Float32[np.ndarray, "title dim"]

    @classmethod
    def build(
        cls,
        featurizer: Featurizer,
        encoder: Encoder,
        aliases: pa.Table,
        occupations: pa.Table,
        settings: NormalizerSettings,
    ) -> Normalizer:
        """Embed the titles of all aliases."""
        titles = TitleIndex.of(aliases).titles
        embeddings = embed_titles(encoder, featurizer, titles).cpu().numpy()
        return cls(featurizer, encoder, aliases, occupations, settings, embeddings)

    @cached_property
    def index(self) -> TitleIndex:
        """Titles, occupations and memberships of the aliases."""
        return TitleIndex.of(self.aliases)

    def with_split(self, split: str) -> Normalizer:
        """The same with an index of one split's aliases only, for evaluation."""
        mask = np.array(self.aliases["split"].to_pylist()) == split
        aliases = self.aliases.filter(mask)
        place = {title: row for row, title in enumerate(self.index.titles)}
        rows = [place[title] for title in TitleIndex.of(aliases).titles]
        return replace(self, aliases=aliases, embeddings=self.embeddings[rows])

    def embed(self, titles: Sequence[str]) -> Float32[np.ndarray, "title dim"]:
        """Unit-norm embeddings; an empty title has one too."""
        embeddings: Float32[np.ndarray, "title dim"] = (
            embed_titles(self.encoder, self.featurizer, list(titles)).cpu().numpy()
        )
        return embeddings

    def predict(
        self,
        raw_titles: Sequence[object],
        top_k: int | None = None,
        min_confidence: float | None = None,
    ) -> list[Answer]:
        """One answer per raw title, in their order.

        Args:
            raw_titles: values of any type; what is no text gets an abstention.
            top_k: length of the lists, 1 or more; None is the model's own.
            min_confidence: below it the model abstains; None or 0 asks for nothing.

        Raises:
            ValueError: `top_k` is below 1, or `min_confidence` is asked of a model without
                calibration, which would have to filter by something that it does not know.
        """
        depth = self._depth(top_k, min_confidence)
        titles, alphabet = frozenset(self.index.titles), frozenset(self.featurizer.alphabet)
        reasons = [abstention(title, alphabet, titles) for title in raw_titles]
        asked = [
            str(title) for title, reason in zip(raw_titles, reasons, strict=True) if reason is None
        ]
        found = self._answers(asked, depth)
        return [next(found) if reason is None else Answer.abstain(reason) for reason in reasons]

    def _depth(self, top_k: int | None, min_confidence: float | None) -> int:
        if min_confidence:
            raise ValueError(
                f"min_confidence = {min_confidence}: this model is not calibrated, so it has no "
                "confidence to compare; leave it out, or compare `score` yourself"
            )
        depth = self.settings.top_k if top_k is None else top_k
        if depth < 1:
            raise ValueError(f"top_k = {depth}; it must be 1 or more")
        return min(depth, len(self.index.occupations))

    def _answers(self, raw_titles: list[str], depth: int) -> Iterator[Answer]:
        for start in range(0, len(raw_titles), BLOCK):
            block = raw_titles[start : start + BLOCK]
            similarities = self.embed(block) @ self.embeddings.T
            scores = self._scores(similarities)
            top = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
            row = np.repeat(np.arange(len(block)), depth)
            titles = best_titles(similarities, self.index.memberships, row, top.reshape(-1))
            for cut, codes, matched, values in zip(
                self.featurizer(block).cut,
                top,
                titles.reshape(top.shape),
                np.take_along_axis(scores, top, axis=1),
                strict=True,
            ):
                yield self._answer(bool(cut), codes, matched, values)

    def _scores(
        self, similarities: Float32[np.ndarray, "query title"]
    ) -> Float32[np.ndarray, "query occupation"]:
        if self.settings.occupation_score == "best":
            return best_scores(similarities, self.index.memberships)
        return soft_scores(similarities, self.index.memberships, self.settings.soft_temperature)

    def _answer(
        self,
        cut: bool,
        codes: Int[np.ndarray, " k"],
        titles: Int[np.ndarray, " k"],
        scores: Float32[np.ndarray, " k"],
    ) -> Answer:
        identifiers = [self.index.occupations[code] for code in codes]
        matched = [self.index.written[pair] for pair in zip(titles, codes, strict=True)]
        label, hierarchy = self._known[identifiers[0]]
        return Answer(
            identifiers[0],
            label,
            hierarchy,
            matched[0],
            float(scores[0]),
            None,
            UNCALIBRATED,
            cut,
            identifiers,
            matched,
            [float(score) for score in scores],
        )

    @cached_property
    def _known(self) -> dict[str, tuple[str, list[str]]]:
        columns = ("occupation_id", "occupation_label", "codes")
        lists = (self.occupations[column].to_pylist() for column in columns)
        return {name: (label, codes) for name, label, codes in zip(*lists, strict=True)}
