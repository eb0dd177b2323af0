"""Systems that studies compare: the workspace's champion, and some that learn no pair.

`ngram` and `tfidf` are fitted on the titles that they are compared with, so that frequencies are
theirs; `sentence_encoder` is the packaged one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchmarks.runner import FIRST_SEED, bounded
from models.ranking.search import Similarities
from models.training.run import TrainSettings
from tasks.check_params import AllParams
from tasks.pipeline.lexical.stage import lexical_systems
from tasks.pipeline.teacher.sentence_encoder import sentence_encoder
from tasks.pipeline.train.network_params import taught, training_settings

CHAMPION, SENTENCES = "champion", "sentence_encoder"


def champion_settings(params: AllParams, steps: int, batch: int) -> TrainSettings:
    """Return the workspace's own network and teacher, for so many steps of so many pairs."""
    settings = taught(training_settings(params.network, FIRST_SEED), params.teacher)
    return replace(bounded(settings, steps), batch_pairs=batch)


def untrained(
    titles: list[str], params: AllParams, names: Sequence[str]
) -> Iterator[tuple[str, Similarities]]:
    """Yield the systems that are named, each compared with the same titles."""
    for name, similarities in lexical_systems(titles, params.lexical).items():
        if name in names:
            yield name, similarities
    if SENTENCES in names:
        yield SENTENCES, _sentences(titles)


def _sentences(titles: list[str]) -> Similarities:
    embed = sentence_encoder()
    index = embed(titles).T
    return lambda queries: embed(queries) @ index
