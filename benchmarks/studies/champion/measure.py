"""Vacancy titles of a job board in three settings: nothing of them, their titles, their labels."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.query_figures import Seeds, figures
from benchmarks.results import Row
from benchmarks.studies.champion.corrected import write_corrected
from benchmarks.studies.champion.evidence import counted_prior, expected_prior, softmax, votes
from benchmarks.studies.champion.titles import Halves, read_halves
from benchmarks.systems import CHAMPION, champion_settings
from benchmarks.title_networks import TitleNetwork, TitleNetworks
from benchmarks.tuning import seeded
from benchmarks.workspace import Workspace, data_folder
from models.answer.index import AliasIndex
from models.answer.search import Search, Similarities
from models.measures.metrics import rank_gold
from models.network.embedding import embed_titles
from models.network.model_files import load_model
from models.repeatable.progress import Progress
from tasks.evaluation.ranking import METRICS
from tasks.evaluation.systems import network, read_index
from tasks.lexical import lexical_systems

NAMES = {name: name for name in METRICS} | {"reciprocal_rank": "mrr"}


@dataclass(frozen=True)
class Asking:
    """Titles given and asked, and the numbers by which their evidence is weighed."""

    workspace: Workspace
    index: AliasIndex
    halves: Halves
    options: argparse.Namespace

    def scores(self, similarities: Similarities, titles: pl.DataFrame) -> np.ndarray:
        """Score all occupations for each title, in the index of all aliases [title, occupation]."""
        search = Search(self.index, similarities, self.workspace.params.evaluate.rule)
        progress = Progress("titles scored:", len(titles))
        blocks = []
        for place, hits in search.blocks(titles["cleaned"].to_list(), 1):
            blocks.append(hits.scores.astype(np.float32))
            progress(place.stop)
        return np.concatenate(blocks)

    def labels(self, titles: pl.DataFrame) -> np.ndarray:
        """Return the code of each title's occupation."""
        return np.searchsorted(np.array(self.index.occupations), titles["occupation_id"].to_numpy())

    def values(self, test: str, scores: np.ndarray) -> pl.DataFrame:
        """Return `test, query_id` and a column a metric for the titles asked; ties in mean."""
        rank = rank_gold(scores, self.labels(self.halves.asked)[:, None])
        columns = {name: metric(rank) for name, metric in METRICS.items()}
        asked = self.halves.asked.select(pl.lit(test).alias("test"), "query_id")
        return asked.with_columns(**columns)


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Ask the titles of each name of `options.asked`."""
    workspace = Workspace.read(dataset)
    index, rows = workspace.aliases, []
    for name in options.asked:
        asking = Asking(workspace, index, read_halves(data_folder(), index, name), options)
        own = [*champion_rows(asking, options.kept / f"corrected-{name}"), *lexical_rows(asking)]
        rows += [row._replace(test=f"{name}/{row.test}") for row in own]
    yield rows


def champion_rows(asking: Asking, corrected: Path) -> Iterator[Row]:
    """Train with every seed, without and with corrections, and ask in each setting."""
    workspace, options = asking.workspace, asking.options
    plain = trained(asking, workspace.pairs(workspace.mix))
    index = read_index(workspace.data)  # people see answers of what was trained on
    similarities = network(*load_model(plain[1].folder), index.titles)
    first = Search(index, similarities, workspace.params.evaluate.rule)
    write_corrected(workspace, first, asking.halves.given, options.share, corrected)
    taught = trained(asking, corrected)
    for ask, networks in ((without_labels, plain), (with_labels, taught)):
        yield from rows_of(
            CHAMPION, {s: ask(asking, own.folder) for s, own in networks.items()}, asking
        )


def trained(asking: Asking, pairs: Path) -> dict[int, TitleNetwork]:
    """Train the workspace's network on a folder of pairs, once a seed."""
    options = asking.options
    networks = TitleNetworks(options.kept, options.processes, pairs)
    settings = champion_settings(asking.workspace.params, options.steps, options.batch)
    return seeded({CHAMPION: settings}, options.seeds, networks)[CHAMPION]


def without_labels(asking: Asking, model: Path) -> pl.DataFrame:
    """Ask with nothing of the titles given, and with the prior that these show."""
    options, halves = asking.options, asking.halves
    similarities = network(*load_model(model), asking.index.titles)
    scores = asking.scores(similarities, halves.asked)
    prior = expected_prior(asking.scores(similarities, halves.given), options.prior_temperature)
    return pl.concat(
        [
            asking.values("zero_label", scores),
            asking.values("unlabelled", scores + options.prior_weight * np.log(prior)),
        ]
    )


def with_labels(asking: Asking, model: Path) -> pl.DataFrame:
    """Ask a network that has learned corrections, with the given titles as exemplars."""
    options, halves = asking.options, asking.halves
    featurizer, encoder = load_model(model)
    similarities = network(featurizer, encoder, asking.index.titles)
    scores = asking.scores(similarities, halves.asked)
    labels = asking.labels(halves.given)
    prior = counted_prior(labels, len(asking.index.occupations))
    learned = softmax(scores / options.temperature + options.prior_power * np.log(prior))
    embedded = [
        embed_titles(encoder, featurizer, titles["cleaned"].to_list()).numpy()
        for titles in (halves.asked, halves.given)
    ]
    shares = votes(
        embedded[0] @ embedded[1].T,
        labels,
        len(prior),
        options.nearest,
        options.vote_temperature,
    )
    mixed = options.vote_share * shares + (1 - options.vote_share) * learned
    return asking.values("feedback", mixed)


def lexical_rows(asking: Asking) -> Iterator[Row]:
    """Yield the systems that learn nothing."""
    params = asking.workspace.params
    for system, similarities in lexical_systems(asking.index.titles, params.lexical).items():
        scores = asking.scores(similarities, asking.halves.asked)
        yield from rows_of(system, {1: asking.values("zero_label", scores)}, asking)


def rows_of(system: str, by_seed: Seeds, asking: Asking) -> Iterator[Row]:
    """Yield the figures of all seeds, and of each."""
    yield from figures(system, by_seed, NAMES, asking.workspace.params)
