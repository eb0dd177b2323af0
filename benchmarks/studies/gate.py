"""How often the gate promotes a challenger that is truly better, equal or worse: replays.

A replay draws every query's outcome anew and applies the gate's own `decide`. The share of queries
on which two networks differ is measured between mix `extra_words` and the served network, on the
splits gate and valid. An equal challenger wins half of them; a true difference comes on top.

A customer with N verdicts (`answers:N`) has a fifth of them on random inputs and a fifth on
disputed titles; `random:N` lacks the latter. They come a hundred a week, and the challenger is
judged after each week until it is promoted. It may differ on labelled inputs as on the customer's,
or on the latter alone (`customer:…`).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from benchmarks.results import Row
from benchmarks.workspace import Exam, Workspace
from models.metrics.intervals import bootstrap_interval
from models.network.kinds import load_model
from models.reproducibility import child_seed, generator
from models.serving.search import Search
from tasks.apps.review.candidates import AT_RANDOM
from tasks.evaluation.ranking import rank_queries
from tasks.evaluation.systems import network, read_index
from tasks.io.mixes import LAST, read_queries
from tasks.pipeline.feedback.held_out import RANDOM_TITLES
from tasks.pipeline.feedback.reader import DISPUTED
from tasks.release.gate.answers import gate_queries
from tasks.release.gate.figures import SystemResults
from tasks.release.gate.rule import LABELLED, decide

STANDS = "as_it_stands"
CUSTOMER, REPLIES = "customer", (RANDOM_TITLES, DISPUTED)
"""A difference on the customer's inputs alone, and the tests that hold these."""
A_WEEK = 100 // AT_RANDOM  # verdicts of either kind that come in a week
DRAWS = 1000
BETTER = 0.03
"""Gain on labelled inputs of a challenger that loses elsewhere: the gate is to refuse it."""
OUTCOMES = np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0]])
"""Of challenger and opponent: only the first is right, only the second, both, none."""


class GateTest(NamedTuple):
    """A test of the gate: its queries, and shares of those that were `measured`."""

    queries: int
    discordance: float  # of which one of two networks alone is right
    right: float  # of which the served network is right
    measured: int = 0
    changed: float = 1.0  # that two networks answer differently, right or not


Differences = Mapping[str, float]
"""The challenger's true difference on each test; on a test without one it is 0."""


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Yield the discordance of each test, and the chance of promotion in every scenario."""
    workspace = Workspace.read(dataset)
    tests = read_tests(workspace)
    pair, labelled = f"{LAST}-{workspace.params.mix}", tests[LABELLED]
    shares = [(name, "discordance", own.discordance, own.measured) for name, own in tests.items()]
    shares.append((LABELLED, "changed", labelled.changed, labelled.measured))
    rows = [Row(pair, *share, seed=workspace.seed) for share in shares]
    sizes = {STANDS: tests} | {
        f"labels:{count}": tests | {LABELLED: labelled._replace(queries=count)}
        for count in options.labels
    }
    for count in options.answers:
        few = labelled._replace(queries=count // AT_RANDOM)
        sizes[f"random:{count}"] = tests | {RANDOM_TITLES: few}
        sizes[f"answers:{count}"] = tests | {RANDOM_TITLES: few, DISPUTED: few}
    cases = scenarios(tests, options.labelled, options.elsewhere)
    alone = {f"{CUSTOMER}:{value:+.2f}": {CUSTOMER: value} for value in options.labelled}
    for system, own in sizes.items():
        for name, differences in (cases | (alone if RANDOM_TITLES in own else {})).items():
            rows.append(promoted(own, name, differences, workspace, system, options.replays))
    yield rows


def read_tests(workspace: Workspace) -> dict[str, GateTest]:
    """Query both networks, and count the gate's queries."""
    data, mixes = workspace.data, (LAST, workspace.params.mix)
    parts = pl.concat([gate_queries(data), read_queries("valid", data)])
    exam = Exam(workspace.params, read_index(data), parts)
    models = [workspace.model(mix, workspace.seed) for mix in mixes]
    answers = [first_answers(exam, model) for model in models]
    both = answers[0].join(answers[1], on=["test", "query_id"], suffix="_now")
    now, before = pl.col("success_at_1_now"), pl.col("success_at_1")
    is_changed = pl.col("occupation_id") != pl.col("occupation_id_now")
    counts = dict(gate_queries(data).group_by("test").len().iter_rows())
    shares = both.group_by("test").agg(
        (now - before).abs().mean().alias("differ"),
        now.mean().alias("right"),
        pl.len(),
        is_changed.mean().alias("changed"),
    )
    return {
        test: GateTest(counts[test], *own)
        for test, *own in sorted(shares.iter_rows())
        if test in counts
    }


def first_answers(exam: Exam, model: Path) -> pl.DataFrame:
    """Return `test, query_id, success_at_1` of a network, and its first `occupation_id`."""
    similarities = network(*load_model(model), exam.index.titles)
    search = Search(exam.index, similarities, exam.params.evaluate.rule)
    scores, run = rank_queries("", search, exam.queries, 1)
    return scores.join(run.filter(rank=1), on=["test", "query_id"], maintain_order="left")


def scenarios(
    tests: Mapping[str, GateTest], labelled: list[float], elsewhere: list[float]
) -> dict[str, Differences]:
    """Return each true difference on labelled inputs, and each loss elsewhere beside a gain."""
    cases: dict[str, Differences] = {f"{LABELLED}:{own:+.2f}": {LABELLED: own} for own in labelled}
    for name in tests:
        for loss in elsewhere:
            if name != LABELLED:
                cases[f"{name}:{loss:+.2f}"] = {LABELLED: BETTER, name: loss}
    return cases


def promoted(
    tests: Mapping[str, GateTest],
    name: str,
    differences: Differences,
    workspace: Workspace,
    system: str,
    replays: int,
) -> Row:
    """Replay one scenario; the ends are of the bootstrap over replays."""
    params, names = workspace.params, ("gate", system, name)
    rng = generator(params.seed, *names)
    outcomes = [
        any(
            decide(answers, "the champion", params.gate).promoted
            for answers in looks(replayed(tests, differences, rng))
        )
        for _ in range(replays)
    ]
    seed = child_seed(params.seed, *names, "interval")
    share = bootstrap_interval(np.array(outcomes), DRAWS, seed)
    return Row(system, name, "promoted", share.value, replays, share.low, share.high)


def looks(answers: Mapping[str, SystemResults]) -> Iterator[Mapping[str, SystemResults]]:
    """Yield the answers as they are after each week, with the customer's verdicts until then."""
    given = [test for test in REPLIES if test in answers]
    replies = max((len(answers[test].challenger) for test in given), default=1)
    for count in range(min(A_WEEK, replies), replies + 1, A_WEEK):
        first = {test: SystemResults(*(own[:count] for own in answers[test])) for test in given}
        yield {**answers, **first}


def replayed(
    tests: Mapping[str, GateTest], differences: Differences, rng: np.random.Generator
) -> dict[str, SystemResults]:
    """Draw the answers of both; disputed titles are labelled inputs whose answer changes."""
    answers = {}
    own = differences.get(CUSTOMER, differences.get(LABELLED, 0.0))
    for name, test in tests.items():
        difference = own if name in REPLIES else differences.get(name, 0.0)
        win = test.discordance / 2 + max(difference, 0.0)
        loss = test.discordance / 2 + max(-difference, 0.0)
        if name == DISPUTED:
            win, loss = (share / (test.changed + abs(difference)) for share in (win, loss))
        right = min(max(test.right - win, 0.0), 1 - win - loss)
        drawn = rng.choice(4, test.queries, p=[win, loss, right, 1 - win - loss - right])
        answers[name] = SystemResults(*OUTCOMES[:, drawn])
    return answers
