"""The taxonomy's ids, labels and codes of what an index numbers, and answers of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from models.normalizer.predict_params import PredictParams
from models.normalizer.spellings import Spellings, texts_of
from models.search.index import AliasIndex
from models.search.search import Hits
from models.search.words.title_words import WORDS

if TYPE_CHECKING:
    from jaxtyping import Bool, Float64, Int, Shaped


@dataclass(frozen=True)
class TaxonomyLabels:
    """Arrays of text, by the codes of an index.

    Attributes:
        occupations: occupation_id of each.
        labels: preferred title of each, of its own language.
        codes: hierarchy above each, broad to narrow, as a list.
        crosswalk_codes: of other standards, as a list.
        spellings: of its titles, in their languages.
    """

    occupations: Shaped[np.ndarray, " occupation"]
    labels: Shaped[np.ndarray, " occupation"]
    codes: Shaped[np.ndarray, " occupation"]
    crosswalk_codes: Shaped[np.ndarray, " occupation"]
    spellings: Spellings

    @classmethod
    def of(
        cls,
        index: AliasIndex,
        aliases: Mapping[str, Sequence[Any]],
        occupations: Mapping[str, Sequence[Any]],
    ) -> Self:
        """Read the taxonomy behind an index of all aliases.

        `aliases` has the columns that `Spellings` reads; `occupations` has `occupation_id,
        occupation_label, codes, crosswalk_codes`.
        """
        place = {name: row for row, name in enumerate(occupations["occupation_id"])}
        rows = [place[name] for name in index.occupations]
        labels, codes, crosswalk_codes = (
            texts_of([occupations[name][row] for row in rows])
            for name in ("occupation_label", "codes", "crosswalk_codes")
        )
        spellings = Spellings.of(aliases, labels)
        return cls(texts_of(index.occupations), labels, codes, crosswalk_codes, spellings)

    def label(self, occupation: int, language: str | None) -> str:
        """Return the preferred title of an occupation in a language, or its own."""
        spoken = self.spellings.languages
        if language in spoken:
            return str(self.spellings.labels[spoken.index(language), occupation])
        return str(self.labels[occupation])

    def confident_codes(
        self,
        sure: Float64[np.ndarray, "query level"],
        answers: Int[np.ndarray, " query"],
        least: float,
    ) -> Shaped[np.ndarray, " query"]:
        """Return the narrowest code of each answer, or its id, that is sure enough; or None."""
        depth = sure.shape[1] - 1
        confident = texts_of([None] * len(answers))
        for row, level in enumerate((sure >= least).sum(axis=1).tolist()):
            own = self.codes[answers[row]]
            if level > depth:
                confident[row] = self.occupations[answers[row]]
            elif level and own:
                confident[row] = own[min(level, len(own)) - 1]
        return confident

    def answer_columns(
        self,
        hits: Hits,
        titles: Int[np.ndarray, "query k"],
        sure: Float64[np.ndarray, "query level"] | None,
        params: PredictParams,
        near: float,
    ) -> dict[str, Any]:
        """Return the columns of hits with two occupations if there are two.

        `titles` are their closest ones in the language of `params`. `sure` is the
        confidence at each level, the occupation last; without it no column has any. Distinguishing
        words stand where the second occupation scores less by `near` at most.
        """
        best = hits.occupations
        scores = np.take_along_axis(hits.scores, best, axis=1).astype(float)
        margins = (
            scores[:, 0] - scores[:, 1] if scores.shape[1] > 1 else np.full(len(scores), np.nan)
        )
        top = slice(params.top_k)
        spellings = self.spellings
        preferred = params.language or 0
        matched = spellings.languages_of(spellings.places(best[:, 0], hits.titles[:, 0], preferred))
        language = matched if params.language is None else np.full_like(matched, params.language)
        labels = spellings.labels[language[:, None], best]
        written = spellings.texts(spellings.places(best, titles, preferred))
        close = margins <= near
        words, runner_up = _differences(labels, written, titles, close)
        codes = [own[: params.code_depth or None] for own in self.codes[best[:, 0]]]
        confidences: dict[str, Any] = {}
        if sure is not None:
            levels = zip(sure.tolist(), codes, strict=True)
            confidences["confidence"] = sure[:, -1]
            confidences["code_confidences"] = [level[: len(own)] for level, own in levels]
        return confidences | {
            "abstained": False,
            "occupation_id": self.occupations[best[:, 0]],
            "occupation_label": labels[:, 0],
            "codes": codes,
            "crosswalk_codes": self.crosswalk_codes[best[:, 0]].tolist(),
            "matched_title": written[:, 0],
            "matched_language": texts_of([name or None for name in spellings.languages])[matched],
            "score": scores[:, 0],
            "score_margin": margins,
            "distinguishing_words": words,
            "runner_up_words": runner_up,
            "top_occupation_ids": self.occupations[best[:, top]].tolist(),
            "top_titles": written[:, top].tolist(),
            "top_scores": scores[:, top].tolist(),
        }


def _differences(
    labels: Shaped[np.ndarray, "query k"],
    written: Shaped[np.ndarray, "query k"],
    titles: Int[np.ndarray, "query k"],
    close: Bool[np.ndarray, " query"],
) -> tuple[list[list[str]], list[list[str]]]:
    """Return the distinguishing words of the first occupation and of the second.

    They are of the closest aliases, or of the labels where both have the same alias; rows that
    are not `close` have none.
    """
    own: list[list[str]] = [[] for _ in close]
    runner_up: list[list[str]] = [[] for _ in close]
    for row in np.flatnonzero(close).tolist():
        texts = labels if titles[row, 0] == titles[row, 1] else written
        first, second = texts[row, :2]
        own[row] = _distinguishing(first, second)
        runner_up[row] = _distinguishing(second, first)
    return own, runner_up


def _distinguishing(one: str, other: str) -> list[str]:
    """Return the words of one text that another has not, in lower case, each once."""
    theirs = set(WORDS.findall(other.lower()))
    return [word for word in dict.fromkeys(WORDS.findall(one.lower())) if word not in theirs]
