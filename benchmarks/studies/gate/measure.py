"""How often the gate promotes a challenger that is truly better, equal or worse: replays.

A replay draws every query's outcome anew and applies the gate's own `decide`. The share of queries
on which two networks differ is measured between mix `extra_words` and the served network, on the
splits gate and valid. An equal challenger wins half of them and loses the other half. A true
difference comes on top, so a challenger that is truly different also differs more often. That is
harder to judge than the same number of differing answers would be.

A customer with so many answers has a fifth of them on random inputs and a fifth on disputed titles:
`answers:N`. `random:N` is the same without the latter. The answers come a hundred a week, and the
challenger is judged after each week until it is promoted. Labelled inputs are there as well. The
challenger may differ on them as on the customer's inputs, or on the latter alone (`customer:…`).
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
from models.network.model_files import load_model
from models.reproducibility.seeding import child_seed, generator
from models.search.search import Search
from tasks.apps.review.candidates import AT_RANDOM
from tasks.evaluation.ranking import rank_queries
from tasks.evaluation.systems import network, read_index
from tasks.io.mixes import LAST
from tasks.io.queries import read_queries
from tasks.pipeline.feedback.feedback_rows.cells import DISPUTED
from tasks.pipeline.feedback.held_out import RANDOM_TITLES
from tasks.release.gate.gate_figures import SystemResults
from tasks.release.gate.rule import LABELLED, decide
from tasks.release.gate.run_gate import gate_queries

STANDS = "as_it_stands"
CUSTOMER, REPLIES = "customer", (RANDOM_TITLES, DISPUTED)
"""A difference on replies alone, and the tests of replies."""
A_WEEK = 100 // AT_RANDOM
"""Replies of either kind that come in a week."""
DRAWS = 1000
BETTER = 0.03
"""Gain on labelled inputs of a challenger that loses elsewhere: the gate is to refuse it."""


class GateTest(NamedTuple):
    """A test of the gate: its queries, how often two networks differ, how often one is right."""

    queries: int
    discordance: float
    right: float
    measured: int = 0
    """Queries that the shares are of."""
    changed: float = 1.0
    """Share that two networks answer differently, right or not."""


Scenario = tuple[str, Mapping[str, float]]
"""A name, and the challenger's true difference on each test; on a test without one it is 0."""


def measure(dataset: str, options: argparse.Namespace) -> Iterator[list[Row]]:
    """Yield the discordance of each test, and the chance of promotion in every scenario."""
    workspace = Workspace.read(dataset)
    tests = read_tests(workspace)
    pair, seed = f"{LAST}-{workspace.mix}", workspace.seed
    rows = [
        Row(pair, name, "discordance", test.discordance, test.measured, seed=seed)
        for name, test in tests.items()
    ]
    labelled = tests[LABELLED]
    rows.append(Row(pair, LABELLED, "changed", labelled.changed, labelled.measured, seed=seed))
    sizes = {STANDS: tests} | {
        f"labels:{count}": tests | {LABELLED: labelled._replace(queries=count)}
        for count in options.labels
    }
    for count in options.answers:
        few = labelled._replace(queries=count // AT_RANDOM)
        sizes[f"random:{count}"] = tests | {RANDOM_TITLES: few}
        sizes[f"answers:{count}"] = tests | {RANDOM_TITLES: few, DISPUTED: few}
    cases = [*scenarios(tests, options.labelled, options.elsewhere)]
    alone = [(f"{CUSTOMER}:{value:+.2f}", {CUSTOMER: value}) for value in options.labelled]
    for system, own in sizes.items():
        for case in [*cases, *(alone if RANDOM_TITLES in own else [])]:
            rows.append(promoted(own, case, workspace, system, options.replays))
    yield rows


def read_tests(workspace: Workspace) -> dict[str, GateTest]:
    """Query both networks, and count the gate's queries."""
    data, mixes = workspace.data, (LAST, workspace.mix)
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
) -> Iterator[Scenario]:
    """Yield each true difference on labelled inputs, and losses elsewhere beside a gain on them."""
    for difference in labelled:
        yield f"{LABELLED}:{difference:+.2f}", {LABELLED: difference}
    for name in tests:
        for difference in elsewhere:
            if name != LABELLED:
                yield f"{name}:{difference:+.2f}", {LABELLED: BETTER, name: difference}


def promoted(
    tests: Mapping[str, GateTest], case: Scenario, workspace: Workspace, system: str, replays: int
) -> Row:
    """Replay one scenario; the ends are of the bootstrap over replays."""
    name, differences = case
    params, names = workspace.params, ("gate", system, name)
    rng = generator(params.seed, *names)
    outcomes = np.array(
        [
            any(
                decide(answers, "the champion", params.gate).promoted
                for answers in looks(replayed(tests, differences, rng))
            )
            for _ in range(replays)
        ]
    )
    share = bootstrap_interval(outcomes, DRAWS, child_seed(params.seed, *names, "interval"))
    return Row(system, name, "promoted", share.value, replays, share.low, share.high)


def looks(answers: Mapping[str, SystemResults]) -> Iterator[Mapping[str, SystemResults]]:
    """Yield the answers as they are after each week, with the replies until then."""
    given = [test for test in REPLIES if test in answers]
    replies = max((len(answers[test].challenger) for test in given), default=1)
    for count in range(min(A_WEEK, replies), replies + 1, A_WEEK):
        first = {test: SystemResults(*(own[:count] for own in answers[test])) for test in given}
        yield {**answers, **first}


def replayed(
    tests: Mapping[str, GateTest], differences: Mapping[str, float], rng: np.random.Generator
) -> dict[str, SystemResults]:
    """Draw the answers of challenger and opponent.

    Disputed titles are drawn from the labelled inputs whose answer changes. Replies differ as
    labelled inputs do, or as `CUSTOMER` says.
    """
    answers = {}
    own = differences.get(CUSTOMER, differences.get(LABELLED, 0.0))
    for name, test in tests.items():
        difference = own if name in REPLIES else differences.get(name, 0.0)
        win = test.discordance / 2 + max(difference, 0.0)
        loss = test.discordance / 2 + max(-difference, 0.0)
        if name == DISPUTED:  # of the inputs whose answer changes
            win, loss = (one / (test.changed + abs(difference)) for one in (win, loss))
        right = min(max(test.right - win, 0.0), 1 - win - loss)
        shares = [win, loss, right, 1 - win - loss - right]
        outcomes = rng.choice(4, test.queries, p=shares)
        challenger, opponent = np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0]])[:, outcomes]
        answers[name] = SystemResults(challenger, opponent)
    return answers
