"""Vacancy titles of a job board: without its data, with its titles, with its labels.

The plot has accuracy against speed and size, published systems beside.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from benchmarks.job_board import read_halves
from benchmarks.networks.corrected_pairs import write_corrected
from benchmarks.networks.runner import learning, seeded
from benchmarks.networks.title_networks import TitleNetwork, TitleNetworks
from benchmarks.pages.plots import against_costs, scatters, svg
from benchmarks.pages.tables import where
from benchmarks.query_figures import UNSEEDED, Seeds, figures, gains
from benchmarks.results import Lines, Row
from benchmarks.studies.champion.board_search import BoardSearch
from benchmarks.studies.champion.costs import cost_rows
from benchmarks.systems import CHAMPION, champion_settings, untrained
from benchmarks.workspace import Workspace, data_folder
from models.reproducibility.seeding import generator
from models.search.search import Search
from tasks.evaluation.ranking import METRICS
from tasks.evaluation.systems import read_index
from tasks.io.frames import read_frame
from tasks.io.mixes import LAST
from tasks.io.schemas import SPLIT_ALIASES
from tasks.pipeline.calibrate.fit_prior import Known
from tasks.pipeline.calibrate.params import CalibrateParams
from tasks.pipeline.feedback.verdicts import resolve
from tasks.pipeline.simulate_feedback.params import SimulateFeedbackParams
from tasks.pipeline.simulate_feedback.stage import judge, predict

NAMES = {name: name for name in METRICS} | {"reciprocal_rank": "mrr"}
COSTS = {
    "titles answered a second, one thread": ("speed", "titles_per_second"),
    "megabytes": ("size", "megabytes"),
}
"""Label of a panel to test and metric; nobody has published speeds."""
PUBLISHED = [("JobBERT-v2", 436.0, 0.390), ("best published", 436.0, 0.393)]
"""Megabytes and MRR on the board's other titles; 109 million parameters of four bytes."""


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Query the titles of each name of `options.halves`."""
    workspace = Workspace.read(dataset)
    index = workspace.aliases
    plain = trained(workspace, workspace.pairs(LAST), options)
    rows = [*learning({CHAMPION: plain})]
    for name in options.halves:
        halves = read_halves(data_folder(), index, name)
        board = BoardSearch(workspace, index, halves, options)
        corrected = corrected_networks(board, plain[1], name)
        own = [*champion_rows(board, plain, corrected), *untrained_rows(board)]
        own += ceiling_rows(board)
        rows += [row._replace(test=f"{name}/{row.test}") for row in own]
    yield [*rows, *cost_rows(workspace, halves.queried, plain[1].folder, options)]


def trained(
    workspace: Workspace, pairs: Path, options: argparse.Namespace
) -> dict[int, TitleNetwork]:
    """Train the workspace's network on a folder of pairs, once a seed."""
    networks = TitleNetworks(options.kept, options.processes, pairs)
    settings = champion_settings(workspace.params, options.steps, options.batch)
    return seeded({CHAMPION: settings}, options.seeds, networks)[CHAMPION]


def corrected_networks(
    board: BoardSearch, first: TitleNetwork, name: str
) -> dict[int, TitleNetwork]:
    """Train with the corrections that the known labels make of the first network's answers."""
    workspace, options = board.workspace, board.options
    params, rng = workspace.params, generator(workspace.params.seed, "champion", "pairs")
    index = read_index(workspace.data)  # reviewers see answers among the titles that are trained on
    search = Search(index, board.similarities(first.folder, index.titles), params.evaluate.rule)
    aliases = read_frame(workspace.data / "split/aliases.parquet", SPLIT_ALIASES)
    rows = feedback_rows(search, board.halves.known, params.simulate_feedback)
    verdicts = resolve(rows, aliases, set()).verdicts
    folder = options.kept / f"corrected-{name}"
    write_corrected(workspace.pairs(LAST), verdicts, params.pairs, rng, folder)
    return trained(workspace, folder, options)


def feedback_rows(
    search: Search, known: pl.DataFrame, params: SimulateFeedbackParams
) -> pl.DataFrame:
    """Schema `FEEDBACK_ROWS`: each label judges the first answer to its title, as one reviewer."""
    predictions, labels = predict(known["cleaned"].to_list(), search), set(known["occupation_id"])
    return judge(known, predictions, labels, CHAMPION, params).with_columns(
        reviewer_id=pl.int_range(pl.len()).cast(pl.String),
        judged_at=pl.lit(None, pl.String),
        chosen_by=pl.lit(None, pl.String),
        served=pl.lit(None, pl.String),
        from_labels=pl.lit(value=False),
    )


def champion_rows(
    board: BoardSearch, plain: dict[int, TitleNetwork], corrected: dict[int, TitleNetwork]
) -> Iterator[Row]:
    """Yield the networks of every seed in each setting."""
    params, weights = board.workspace.params, board.weights

    def values(
        test: str,
        networks: dict[int, TitleNetwork],
        known: Known | None = None,
        weights: CalibrateParams | None = None,
    ) -> Seeds:
        return {
            seed: board.values(test, board.search(own.folder, known, weights))
            for seed, own in networks.items()
        }

    yield from figures(f"{CHAMPION}/alone", values("zero_label", plain), NAMES, params)
    before = values("zero_label", plain, board.inputs)
    labelled = values("feedback", corrected, board.labelled, weights)
    for seeds in (before, values("unlabelled", plain, board.bare, weights), labelled):
        yield from figures(CHAMPION, seeds, NAMES, params)
    after, ahead = (
        {seed: board.unjudged(own) for seed, own in seeds.items()} for seeds in (labelled, before)
    )
    gained = f"{CHAMPION}/feedback-{CHAMPION}/zero_label"
    for column, metric in NAMES.items():
        yield from gains(gained, after, ahead, f"gain_{metric}", params, column)


def untrained_rows(board: BoardSearch) -> Iterator[Row]:
    """Yield the systems that learn nothing."""
    params, names = board.workspace.params, board.options.untrained
    for system, similarities, _ in untrained(board.index.titles, params.lexical, names):
        search = Search(board.index, similarities, params.evaluate.rule)
        values = {UNSEEDED: board.values("zero_label", search)}
        yield from figures(system, values, NAMES, params)


def ceiling_rows(board: BoardSearch) -> Iterator[Row]:
    """Yield how often the label of a title agrees with another label of the same title."""
    labels = board.halves.queried.group_by("normalized", "occupation_id").len("own")
    several = labels.with_columns(all=pl.col("own").sum().over("normalized")).filter(
        pl.col("all") > 1
    )
    agreeing = several["own"] * (several["own"] - 1) / (several["all"] - 1)
    count = int(several["own"].sum())
    if count:
        yield Row("labels", "feedback", "success_at_1", float(agreeing.sum()) / count, count)


def plot(rows: Lines) -> str:
    """Draw MRR on the odd half against speed and size; published figures are of its sister."""
    means = where(rows, metric="mrr", test="odd/zero_label", seed="")
    panels = against_costs(rows, means, COSTS)
    panels["megabytes"] += PUBLISHED
    return svg("champion", lambda whole: scatters(whole, panels, "MRR, no data of the board"))
