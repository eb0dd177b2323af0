"""Vacancy titles of a job board: without its data, with its titles, with its labels."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from benchmarks.networks import (
    TitleNetwork,
    TitleNetworks,
    bounded,
    learning,
    one_thread,
    seeded,
    write_corrected,
)
from benchmarks.plots import against_costs, scatters, svg
from benchmarks.query_figures import UNSEEDED, Seeds, figures, gains
from benchmarks.results import Lines, Row
from benchmarks.systems import (
    CHAMPION,
    SENTENCES,
    SPEED,
    Work,
    alternate,
    untrained,
)
from benchmarks.tables import where
from benchmarks.workspace import Halves, Workspace, data_folder, read_halves
from models.reproducibility import generator
from models.serving.index import AliasIndex
from models.serving.scores import Exemplars
from models.serving.search import Search, Similarities
from tasks.evaluation.ranking import METRICS, rank_queries
from tasks.evaluation.systems import read_index
from tasks.io.frames import read_frame
from tasks.io.mixes import LAST, queried_strings
from tasks.io.schemas import RESOLUTIONS, SPLIT_ALIASES, SPLIT_INPUTS
from tasks.pipeline.calibrate.prior import CalibrateParams, Known, gather, known_inputs
from tasks.pipeline.feedback.reader import as_verdicts
from tasks.pipeline.feedback.resolution import resolve
from tasks.pipeline.simulate_feedback import SimulateFeedbackParams, judge, predict
from tasks.pipeline.train import training_settings
from tasks.release.model_package.quantized_network import QuantizedNetwork

NAMES = {name: name for name in METRICS} | {"reciprocal_rank": "mrr"}
COSTS = {
    "titles answered a second, one thread": ("speed", "titles_per_second"),
    "megabytes": ("size", "megabytes"),
}
"""Label of a panel to test and metric; nobody has published speeds."""
PUBLISHED = [("JobBERT-v2", 436.0, 0.390), ("best published", 436.0, 0.393)]
"""Megabytes and MRR on the board's other titles; 109 million parameters of four bytes."""
NO_LABELS = pl.DataFrame(schema={"title": pl.String, "occupation_id": pl.String, "count": pl.Int64})
Networks = dict[int, TitleNetwork]  # by seed


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Query the titles of each name of `options.halves`."""
    workspace = Workspace.read(dataset)
    plain = trained(workspace, workspace.pairs(LAST), options)
    rows = [*learning({CHAMPION: plain})]
    for name in options.halves:
        halves = read_halves(data_folder(), workspace.aliases, name)
        board = Board(workspace, workspace.aliases, halves, options)
        corrected = corrected_networks(board, plain[1], name)
        own = [*champion_rows(board, plain, corrected), *untrained_rows(board)]
        own += ceiling_rows(halves.queried)
        rows += [row._replace(test=f"{name}/{row.test}") for row in own]
    yield [*rows, *cost_rows(board, plain[1].folder)]


def trained(workspace: Workspace, pairs: Path, options: argparse.Namespace) -> Networks:
    """Train the workspace's network on a folder of pairs, once a seed."""
    networks = TitleNetworks(options.kept, options.processes, pairs)
    settings = bounded(training_settings(workspace.params.network, 1), options.steps)
    settings = replace(settings, batch_pairs=options.batch)
    return seeded({CHAMPION: settings}, options.seeds, networks)[CHAMPION]


@dataclass(frozen=True)
class Board:
    """Known and queried titles of the board, and the workspace whose networks answer."""

    workspace: Workspace
    index: AliasIndex
    halves: Halves
    options: argparse.Namespace

    def similarities(self, model: Path, titles: Sequence[str]) -> Similarities:
        """Return a network as it is registered, compared with titles."""
        precision = self.workspace.params.register_.precision
        return QuantizedNetwork.of(model, precision).similarities(titles)

    def values(self, test: str, search: Search) -> pl.DataFrame:
        """Return `test, query_id` and each metric of the queried titles; ties count in the mean."""
        gold = pl.concat_list("occupation_id").alias("occupation_ids")
        queries = self.halves.queried.with_columns(gold, test=pl.lit(test))
        return rank_queries(CHAMPION, search, queries, 1)[0].drop("system")

    def search(
        self, model: Path, known: Known | None = None, weights: CalibrateParams | None = None
    ) -> Search:
        """Search the index of all aliases with a network as it is registered, and with inputs."""
        rule = self.workspace.params.evaluate.rule
        plain = Search(self.index, self.similarities(model, self.index.titles), rule)
        if known is None:
            return plain
        weights = weights or self.workspace.params.calibrate
        made = gather(plain, known, weights, rule.temperature, CHAMPION)
        bias = dict(made.prior.select("occupation_id", "bias").iter_rows())
        exemplars = made.exemplars.to_dict(as_series=False)
        learned = Exemplars.of(self.index, bias, exemplars, rule.temperature)
        titles = [*self.index.titles, *learned.titles]
        return Search(self.index, self.similarities(model, titles), rule, learned)


def corrected_networks(board: Board, first: TitleNetwork, name: str) -> Networks:
    """Train with the corrections that the known labels make of the first network's answers."""
    workspace, options = board.workspace, board.options
    params, rng = workspace.params, generator(workspace.params.seed, "champion", "pairs")
    index = read_index(workspace.data)  # reviewers see answers among the titles that are trained on
    search = Search(index, board.similarities(first.folder, index.titles), params.evaluate.rule)
    aliases = read_frame(workspace.data / "split/aliases.parquet", SPLIT_ALIASES)
    verdicts = label_verdicts(search, board.halves.known, params.simulate_feedback)
    resolutions, *_ = resolve(verdicts, aliases, set())
    folder = options.kept / f"corrected-{name}"
    write_corrected(workspace.pairs(LAST), resolutions, params.pairs, rng, folder)
    return trained(workspace, folder, options)


def label_verdicts(
    search: Search, known: pl.DataFrame, params: SimulateFeedbackParams
) -> pl.DataFrame:
    """Schema `VERDICTS`: each label judges the first answer to its title, as one reviewer."""
    predictions, labels = predict(known["cleaned"].to_list(), search), set(known["occupation_id"])
    rows = judge(known, predictions, labels, CHAMPION, params).with_columns(
        known["normalized"],
        *(pl.lit(None, pl.String).alias(name) for name in ("judged_at", "chosen_by", "served")),
        reviewer_id=pl.int_range(pl.len()).cast(pl.String),
    )
    return as_verdicts(rows, from_labels=False)


def champion_rows(board: Board, plain: Networks, corrected: Networks) -> Iterator[Row]:
    """Yield the networks of every seed in each setting; the board's titles weigh more."""
    workspace, known = board.workspace, board.halves.known
    params, data = workspace.params, workspace.data
    inputs = read_frame(data / "split/inputs.parquet", SPLIT_INPUTS)
    own = known_inputs(LAST, inputs, pl.DataFrame(schema=dict(RESOLUTIONS)), queried_strings(data))
    bare = Known(known["cleaned"].unique(maintain_order=True).to_list(), NO_LABELS)
    titles = known.select(pl.col("cleaned").alias("title"), "occupation_id")
    counted = titles.group_by("title", "occupation_id", maintain_order=True).len("count")
    labelled = Known([], counted.cast({"count": pl.Int64}))
    own_weights = {name: vars(board.options)[name] for name in ("prior_power", "prediction_weight")}
    weights = params.calibrate.model_copy(update=own_weights)

    def values(
        test: str,
        networks: Networks,
        known: Known | None = None,
        weights: CalibrateParams | None = None,
    ) -> Seeds:
        return {
            seed: board.values(test, board.search(network.folder, known, weights))
            for seed, network in networks.items()
        }

    yield from figures(f"{CHAMPION}/alone", values("zero_label", plain), NAMES, params)
    before = values("zero_label", plain, own)
    after = values("feedback", corrected, labelled, weights)
    for seeds in (before, values("unlabelled", plain, bare, weights), after):
        yield from figures(CHAMPION, seeds, NAMES, params)
    named = board.halves.queried["occupation_id"].is_in(set(known["occupation_id"]))
    left = board.halves.queried.filter(~named)["query_id"].implode()

    def unjudged(seeds: Seeds) -> Seeds:
        chosen, test = pl.col("query_id").is_in(left), pl.lit("unjudged")
        return {seed: own.filter(chosen).with_columns(test=test) for seed, own in seeds.items()}

    gained = f"{CHAMPION}/feedback-{CHAMPION}/zero_label"
    for column, metric in NAMES.items():
        mine, theirs = unjudged(after), unjudged(before)
        yield from gains(gained, mine, theirs, f"gain_{metric}", params, column)


def untrained_rows(board: Board) -> Iterator[Row]:
    """Yield the systems that learn nothing."""
    params, names = board.workspace.params, board.options.untrained
    for system, similarities, _ in untrained(board.index.titles, params.lexical, names):
        search = Search(board.index, similarities, params.evaluate.rule)
        values = {UNSEEDED: board.values("zero_label", search)}
        yield from figures(system, values, NAMES, params)


def ceiling_rows(queried: pl.DataFrame) -> Iterator[Row]:
    """Yield how often the label of a title agrees with another label of the same title."""
    labels = queried.group_by("normalized", "occupation_id").len("own")
    several = labels.with_columns(all=pl.col("own").sum().over("normalized")).filter(
        pl.col("all") > 1
    )
    agreeing = several["own"] * (several["own"] - 1) / (several["all"] - 1)
    count = int(several["own"].sum())
    if count:
        yield Row("labels", "feedback", "success_at_1", float(agreeing.sum()) / count, count)


def cost_rows(board: Board, model: Path) -> Iterator[Row]:
    """Yield titles a second on one thread, search included, and megabytes of every system."""
    params, index, options = board.workspace.params, board.index, board.options
    titles = board.halves.queried["cleaned"].to_list()[: options.timed]

    def work(name: str, similarities: Similarities) -> Work:
        search = Search(index, similarities, params.evaluate.rule)
        return Work(name, "speed", SPEED, len(titles), lambda: [*search.blocks(titles, 1)])

    with one_thread():
        others = [*untrained(index.titles, params.lexical, options.untrained)]
        works = [work(CHAMPION, board.similarities(model, index.titles))]
        yield from alternate([*works, *(work(*other[:2]) for other in others)], options.repeats)
    for system, kept in ((CHAMPION, params.register_.precision), (f"{CHAMPION}/single", "single")):
        weight = QuantizedNetwork.of(model, kept).megabytes(index.titles)
        yield Row(system, "size", "megabytes", weight, 1)
    for system, _, weight in others:
        if system == SENTENCES:
            yield Row(system, "size", "megabytes", weight, 1)


def plot(rows: Lines) -> str:
    """Draw MRR on the odd half against speed and size; published figures are of its sister."""
    means = where(rows, metric="mrr", test="odd/zero_label", seed="")
    panels = against_costs(rows, means, COSTS)
    panels["megabytes"] += PUBLISHED
    return svg("champion", lambda whole: scatters(whole, panels, "MRR, no data of the board"))
