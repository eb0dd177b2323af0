"""Systems that studies compare: the workspace's champion, and some that learn no pair.

`ngram` and `tfidf` are fitted on the titles that they are compared with, so that frequencies are
theirs; `sentence_encoder` is the packaged one.
"""

from __future__ import annotations

import pickle
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

from benchmarks.networks.runner import FIRST_SEED, bounded
from benchmarks.sentence_encoder import sentence_encoder
from models.search.search import Similarities
from models.training.run import TrainSettings
from tasks.check_params import AllParams
from tasks.pipeline.lexical.params import LexicalParams
from tasks.pipeline.lexical.stage import lexical_systems
from tasks.pipeline.train.network_params import training_settings

CHAMPION, SENTENCES = "champion", "sentence_encoder"


def champion_settings(params: AllParams, steps: int, batch: int) -> TrainSettings:
    """Return the workspace's own network, for so many steps of so many pairs."""
    settings = training_settings(params.network, FIRST_SEED)
    return replace(bounded(settings, steps), batch_pairs=batch)


def untrained(
    titles: Sequence[str], params: LexicalParams, names: Container[str]
) -> Iterator[tuple[str, Similarities, float]]:
    """Yield name, similarities to cleaned titles and megabytes of each system that is named."""
    for name, similarities in lexical_systems(titles, params).items():
        if name in names:
            yield name, similarities, len(pickle.dumps(similarities)) / 1e6
    if SENTENCES in names:
        print(f"{SENTENCES}: {len(titles):,} titles of the index", flush=True)
        encoder = sentence_encoder()
        index = encoder(titles).T
        weights = sum(own.numel() for own in encoder.model.parameters())
        yield SENTENCES, lambda queries: encoder(queries) @ index, 4 * (weights + index.size) / 1e6
