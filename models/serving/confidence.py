"""From scores to confidence, and the titles that are rejected as unlike any job title.

At each level of the hierarchy, the chances of all occupations under the answer's code are added up
to p = Σ softmax(s/t); the confidence is σ(a + b·log(p/(1 − p)) + w·e), where e is what the
words say, with a, b and w of the level fitted on inputs that nothing was trained on (Platt 1999). A
broader code is never less certain than a narrower one below it.

An n-gram network may match by letters what has other words ("product manager" and "production
manager"), or a lone head word with a longer title ("driver" and "hearse driver"). So the words of a
title are compared with those of the closest alias of its answer, and with the answer's label:
"shift manager" says nothing of the refinery whose shift manager has it as an alias.

A string that is not a job title may still be near to one: "horse" to "horse trainer". But titles
end with the word that says what a person is, and few other words do. So with the cosine c of the
closest title or exemplar, and h(w) = log(1 + titles whose first part ends with the word w),

    ood_score = −(c + 0.05 · min(log 20, max h of the parts' last words) + 0.1 · mean h of all words
                  − 0.2 if it is a single word).

The formula is ours (`docs/LOG.md`).
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import log, log1p
from typing import TYPE_CHECKING

import numpy as np

from models.serving.clean import CODES, why_rejected
from models.serving.exact_match import SHORT, Batch, Decision
from models.serving.kernels import add_shares, compare_words
from models.serving.labels import Spellings
from models.serving.scores import LABEL
from models.serving.search import Hits
from models.text.words import WORDS, TitleWords, Words, forms_of, parts_of

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Float32, Float64, Int, Int64

EDGE = 1e-6  # chances are kept this far from 0 and 1, where the logarithm ends
EVIDENCE = (
    *("unmatched", "unsaid", "label_unsaid"),
    *("lone", "letters", "head", "topic", "short", "distance"),
)
"""Share of the title's letters in words that the alias lacks; share of the alias's letters in words
that the title lacks; the same of the label, in its form for the gender that lacks least; whether
the title is one word; of such a one the first share again (the alias is like it by letters alone),
log(1 + titles that it ends), and whether a longer alias begins with it, as with a topic ("football
coach"); whether no word of the title has more than `SHORT` letters; 1 − similarity of the closest
title or exemplar."""
ENDING, STRONG, MEAN, SINGLE = 0.05, log(20), 0.1, 0.2
"""Of the formula above; no title's score is higher than `SINGLE` − c, of several words than −c."""
KNOWN = 10.0  # taken off the score of a title of the index: more than anything else can be
REMEMBERED = 1 << 17  # aliases and labels whose words are remembered
LONGEST_ABBREVIATION = 5
VOWELS = frozenset("aeiouyäöüåæøœáéíóúàèìòùâêîôûãõőűěůýąęėįųūāēīăαεηιουωаеиоуъыэюяіїє")


@dataclass(frozen=True)
class Levels:
    """The hierarchy as codes by occupation: one row a level, broad to narrow, the occupation last.

    Attributes:
        codes: which code of its level each occupation is under; 0, 1, 2 … within a level.
    """

    codes: Int64[np.ndarray, "level occupation"]

    @classmethod
    def of(cls, hierarchy: Sequence[Sequence[str]]) -> Levels:
        """Read the codes above each occupation, broad to narrow; short ones repeat their last."""
        depth = max(map(len, hierarchy), default=0)
        rows = []
        for level in range(depth):
            names = [codes[min(level, len(codes) - 1)] if codes else "" for codes in hierarchy]
            rows.append(np.unique(np.array(names, object), return_inverse=True)[1])
        return cls(np.array([*rows, np.arange(len(hierarchy))], np.int64))

    def __len__(self) -> int:
        return len(self.codes)

    def shares(
        self,
        scores: Float[np.ndarray, "query occupation"],
        temperature: float,
        answers: Int[np.ndarray, " query"],
    ) -> Float64[np.ndarray, "query level"]:
        """Add up the chances of all occupations under the answer's code, level by level."""
        made, rows = np.empty((len(scores), len(self))), np.ascontiguousarray(scores, np.float32)
        own, tops = np.ascontiguousarray(answers, np.int64), np.zeros(len(scores), np.float32)
        floats, bits = (rows, tops), (rows.view(np.int32), tops.view(np.int32))
        powers = np.empty(rows.shape[1], np.float32)
        groups = (self.codes, *self.members)
        add_shares(floats, bits, powers, np.float32(temperature), own, groups, made)
        return made

    @cached_property
    def members(
        self,
    ) -> tuple[Int64[np.ndarray, "level occupation"], Int64[np.ndarray, "level code+1"]]:
        """Occupations by their codes at each level, and where those of each code begin."""
        members = self.codes.argsort(axis=1, kind="stable")
        ranked = np.take_along_axis(self.codes, members, axis=1)
        codes = np.arange(self.codes.max(initial=-1) + 2)
        return members, np.stack([level.searchsorted(codes) for level in ranked])

    def agree(
        self, answers: Int[np.ndarray, " query"], gold: Int[np.ndarray, " query"]
    ) -> Bool[np.ndarray, "query level"]:
        """Say at which levels answer and gold are under one code."""
        same: Bool[np.ndarray, "query level"] = (self.codes[:, answers] == self.codes[:, gold]).T
        return same


@dataclass(frozen=True)
class Calibration:
    """Turns chances into confidences.

    Attributes:
        temperature: of the softmax over the scores.
        offsets: a of each level.
        slopes: b of each level.
        ood_threshold: a title whose `OodScore` is higher is not a job title.
        weights: of each level, of what the words say (`EVIDENCE`).
        exact: how often a title of the taxonomy is right, at each level; empty if unknown.
        agreement: how often two labels of one title agree, at each level; empty if unknown.
    """

    temperature: float
    offsets: Sequence[float]
    slopes: Sequence[float]
    ood_threshold: float
    weights: Sequence[Sequence[float]] = ()
    exact: Sequence[float] = ()
    agreement: Sequence[float] = ()

    def __call__(
        self,
        shares: Float64[np.ndarray, "query level"],
        evidence: Float64[np.ndarray, "query feature"] | None = None,
    ) -> Float64[np.ndarray, "query level"]:
        """Return the confidence at every level."""
        offsets, slopes, weights = self._fitted
        logits = offsets + slopes * logit(shares)
        if evidence is not None and len(weights):
            logits += evidence @ weights.T
        chances = 1 / (1 + np.exp(-logits))
        rising = np.maximum.accumulate(chances[:, ::-1], axis=1)  # from the occupation upwards
        confidences: Float64[np.ndarray, "query level"] = rising[:, ::-1]
        return confidences

    @cached_property
    def _fitted(self) -> list[Float64[np.ndarray, "level *"]]:
        return [*map(np.array, (self.offsets, self.slopes, self.weights))]


def logit(chances: Float64[np.ndarray, "*shape"]) -> Float64[np.ndarray, "*shape"]:
    """Return log(p/(1 − p)), finite at 0 and 1 too."""
    inside = np.minimum(np.maximum(chances, EDGE), 1 - EDGE)
    logits: Float64[np.ndarray, "*shape"] = np.log(inside) - np.log(1 - inside)
    return logits


def word_evidence(
    titles: Words,
    aliases: Sequence[str],
    labels: Sequence[str],
    closest: Float[np.ndarray, " title"],
    endings: Mapping[str, int],
) -> Float64[np.ndarray, "title feature"]:
    """Return `EVIDENCE` of cleaned titles.

    Args:
        titles: the words of the cleaned titles.
        aliases: the closest alias of the answer to each title, cleaned.
        labels: the answer's label in the language of this alias, as written.
        closest: similarity of each title to the closest title of all.
        endings: how many titles of the taxonomy end with a word.
    """
    count = len(titles.starts) - 1
    features = np.zeros((count, len(EVIDENCE)))
    alias, label = (
        {text: at for at, text in enumerate(dict.fromkeys(own))} for own in (aliases, labels)
    )
    forms = [form for text in label for form in _forms(text)]
    begins = count + len(alias) + np.cumsum([0, *(len(_forms(text)) for text in label)])
    words = titles.followed_by([*map(_words, alias), *forms])
    shares = np.empty((count, 4))
    compare_words(
        (*words.letters, words.codes, words.starts),
        np.array([count + alias[text] for text in aliases], np.int64),
        np.array([label[text] for text in labels], np.int64),
        begins,
        shares,
    )
    sizes, long = np.diff(words.starts[: count + 1]), [len(name) > SHORT for name in words.names]
    lone = sizes == 1
    features[:, :3], features[:, 3] = shares[:, :3], lone
    features[:, 4] = lone * shares[:, 0]
    for row in lone.nonzero()[0].tolist():
        features[row, 5] = log1p(endings.get(words.names[words.codes[words.starts[row]]], 0))
    features[:, 6] = lone & (shares[:, 1] > 0) & (shares[:, 3] > 0)
    features[:, 7] = ~words.any_of(long)[:count]
    features[sizes == 0, :3] = 1.0
    features[:, 8] = 1.0 - closest.astype(np.float64)
    return features


@lru_cache(REMEMBERED)
def _words(text: str) -> tuple[str, ...]:
    """Return the words of a text that occurs again and again."""
    return tuple(WORDS.findall(text))


@lru_cache(REMEMBERED)
def _forms(label: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of each form of a label."""
    return tuple(map(_words, forms_of(label)))


@dataclass(frozen=True)
class OodScore:
    """An out-of-domain score of strings: the higher, the less a string reads like a job title.

    Attributes:
        titles: cleaned; a title of the index is in the domain whatever it is made of.
        endings: how many titles have a first part that ends with a word; of others none.
    """

    titles: Container[str]
    endings: Mapping[str, int]

    def __call__(
        self, titles: Sequence[str], closest: Float[np.ndarray, " title"]
    ) -> Float64[np.ndarray, " title"]:
        """Return the scores of strings; `closest` is the cosine of each to a title or exemplar."""
        return -(np.array(closest, np.float64) + [self._bonus(title) for title in titles])

    def _bonus(self, title: str) -> float:
        """Return how much the words of a string count beside its closeness."""
        if title in self.titles:
            return KNOWN
        parts = parts_of(title)
        words = [log1p(self.endings.get(word, 0)) for part in parts for word in part]
        if not words:
            return 0.0
        last_word = max(log1p(self.endings.get(part[-1], 0)) for part in parts)
        alone = SINGLE if len(words) == 1 else 0.0
        return ENDING * min(STRONG, last_word) + MEAN * sum(words) / len(words) - alone


@dataclass(frozen=True)
class Confidence:
    """Confidence of the hits of an index, and rejections.

    Attributes:
        calibration: fitted on labelled titles.
        hierarchy: above the occupations of an index.
        titles: all cleaned aliases, by their positions.
        spellings: of the titles of the index.
        words: of the titles of the index.
    """

    calibration: Calibration
    hierarchy: Levels
    titles: Sequence[str]
    spellings: Spellings
    words: TitleWords

    def __call__(
        self, batch: Batch, hits: Hits, decisions: Mapping[int, Decision]
    ) -> tuple[Float64[np.ndarray, "query level"], Int64[np.ndarray, " query"]]:
        """Return how certain each answer is at every level, the occupation last, and rejections.

        The network is as sure as it was calibrated to be. A settled title (`Decision`) is as sure
        as titles of the taxonomy are, others of the taxonomy at most so; a title of several owners
        shares that among them. A label that came with the data is at most as sure as two people
        who label one title agree. A title that is unlike all others, and no abbreviation either,
        is rejected: the reason is a position in `REASONS`, 0 if there is none.
        """
        calibration, answers = self.calibration, hits.occupations[:, 0]
        shares = self.hierarchy.shares(hits.scores, calibration.temperature, answers)
        numbers = self.spellings.label_numbers(answers, hits.titles[:, 0])
        labels = self.spellings.labels.reshape(-1)[numbers].tolist()
        aliases = [self.titles[position] for position in hits.titles[:, 0].tolist()]
        endings = self.words.endings
        words, _ = Words.of(batch.titles)
        evidence = word_evidence(words, aliases, labels, hits.top_similarity, endings)
        sure = calibration(shares, evidence)
        for row, (by, owners, settled) in decisions.items():
            if owners and len(calibration.exact):
                most = np.array(calibration.exact)
                if len(owners) > 1 or owners[0] != answers[row]:
                    answer = np.full(len(owners), answers[row])
                    most *= self.hierarchy.agree(answer, np.array(owners)).mean(axis=0)
                sure[row] = most if settled else np.minimum(sure[row], most)
            elif by == LABEL and len(calibration.agreement):
                sure[row] = np.minimum(sure[row], calibration.agreement)
        is_lone = evidence[:, EVIDENCE.index("lone")] > 0
        return sure, self._rejections(batch, hits.top_similarity, decisions, is_lone)

    def _rejections(
        self,
        batch: Batch,
        similarity: Float32[np.ndarray, " query"],
        decisions: Mapping[int, Decision],
        is_lone: Bool[np.ndarray, " query"],
    ) -> Int64[np.ndarray, " query"]:
        least, codes = self.calibration.ood_threshold, np.zeros(len(batch.titles), np.int64)
        closest = similarity.astype(np.float64)
        most = np.where(is_lone, SINGLE, 0.0) - closest  # no score is higher
        far = ((most > least) & ~batch.verbatim).nonzero()[0]
        titles = [batch.titles[row] for row in far.tolist()]
        scores = OodScore((), self.words.endings)(titles, closest[far])
        for row, title, score in zip(far.tolist(), titles, scores, strict=True):
            if score > least and row not in decisions and not is_abbreviation(title):
                codes[row] = CODES[why_rejected(title, self.words.counts)]
        return codes


def is_abbreviation(title: str) -> bool:
    """Say whether a title is a few letters without a vowel: nobody can pronounce "hrbp"."""
    return 1 < len(title) <= LONGEST_ABBREVIATION and title.isalpha() and VOWELS.isdisjoint(title)
