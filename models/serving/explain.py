"""Why a title is answered as it is: what each of its words adds, and why the second one lost.

A word's *pull* towards an occupation is what that occupation's score loses when the word is left
out of the title (occlusion, Zeiler and Fergus 2014). It is no weight in a sum: the pulls of a title
need not add up to its score. The only word of a title pulls with all of the score.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from models.serving.answer import Answer
from models.serving.model import Normalizer
from models.serving.scores import LABEL, REVIEW
from models.text.words import WORDS

if TYPE_CHECKING:
    from jaxtyping import Float

MOST_WORDS = 50  # words of a title that are left out in turn: networks read a hundred characters
LEAST_MORE = 0.05
"""The least that a word adds more to the first occupation than to the second if it tells why."""
DECIDED = {
    REVIEW: "as people said in a review of this title",
    LABEL: "as the data labelled this title",
}
"""Says what decided, where it was no title of the taxonomy."""


class Part(NamedTuple):
    """A word of the title, and what it adds to the first occupation and to the second."""

    word: str
    pull: float
    runner_up_pull: float


class Explanation(NamedTuple):
    """An answer taken apart.

    Attributes:
        answer: of the title, the first two occupations in its lists if there are two.
        parts: its first `MOST_WORDS` words in their order; none in an abstention.
        runner_up_label: preferred title of the second occupation.
        why: all of it in a sentence.
    """

    answer: Answer
    parts: list[Part]
    runner_up_label: str | None
    why: str

    def values(self) -> dict[str, Any]:
        """Return plain values, as JSON has them."""
        parts = [part._asdict() for part in self.parts]
        return self._asdict() | {"answer": self.answer._asdict(), "parts": parts}


def explain(normalizer: Normalizer, raw_title: object, language: str = "") -> Explanation:
    """Say which words drew a title to its occupation, and why the second one lost.

    `language`: of labels and titles, as in `Normalizer.predict`.
    """
    answer = normalizer.predict([raw_title], top_k=2, language=language)[0]
    if answer.abstained:
        return Explanation(answer, [], None, f"no answer: {answer.reason}")
    title = normalizer.reader([raw_title]).batch.titles[0]
    spans = [match.span() for match in WORDS.finditer(title)][:MOST_WORDS] or [(0, len(title))]
    less = [" ".join((title[:start] + title[end:]).split()) for start, end in spans]
    positions = [normalizer.index.occupations.index(name) for name in answer.top_occupation_ids]
    pulls = _scores(normalizer, [title], positions) - _scores(normalizer, less, positions)
    parts = [
        Part(title[start:end], float(pull[0]), float(pull[-1]))
        for (start, end), pull in zip(spans, pulls, strict=True)
    ]
    label, lost = None, "there is no other"
    if len(positions) > 1:
        label = normalizer.labels.label(positions[1], language or answer.matched_language)
        lost = _lost(answer, parts, label)
    return Explanation(answer, parts, label, f"{_drawn(answer, parts)}; {lost}")


def _scores(
    normalizer: Normalizer, titles: list[str], positions: list[int]
) -> Float[np.ndarray, "title occupation"]:
    """Return the scores of some occupations; of an empty title they are 0."""
    scores = np.zeros((len(titles), len(positions)))
    rows = [row for row, title in enumerate(titles) if title]
    texts, two_stages = [titles[row] for row in rows], normalizer.two_stage_search
    if rows and two_stages:
        scores[rows] = two_stages.scores(normalizer.network(texts), positions)
    elif rows:
        scores[rows] = normalizer.search(texts, 1).scores[:, positions]
    return scores


def _drawn(answer: Answer, parts: list[Part]) -> str:
    most = max(parts, key=lambda part: part.pull)
    by = DECIDED.get(str(answer.answered_by), f"by its title {answer.matched_title!r}")
    return (
        f"{answer.occupation_label}, {by} ({answer.score:.2f}); "
        f"most of it comes from {most.word!r} ({most.pull:+.2f})"
    )


def _lost(answer: Answer, parts: list[Part], label: str) -> str:
    most = max(parts, key=lambda part: part.pull - part.runner_up_pull)
    lost = (
        f"the nearest other, {label}, by its title {answer.top_titles[1]!r} "
        f"({answer.top_scores[1]:.2f}), loses by {answer.score_margin:.2f}"
    )
    if most.pull - most.runner_up_pull < LEAST_MORE:
        return lost
    pulls = f"{most.pull:+.2f} to the first and {most.runner_up_pull:+.2f} to this one"
    return f"{lost}: {most.word!r} adds {pulls}"
