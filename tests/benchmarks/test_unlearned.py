"""Pages name the networks whose best look was their first."""

from __future__ import annotations

import pytest

from benchmarks.networks.runner import Outcome, learning
from benchmarks.pages.tables import MARK, UNLEARNED, Table, figure, marked
from benchmarks.results import BEST_STEP, Line
from models.training.loop import Look


def line(system: str, seed: str, metric: str = "success_at_1", **changes: str) -> Line:
    values = {"dataset": "sample", "system": system, "test": "typos", "metric": metric}
    values |= {"value": "0.5", "low": "0.4", "high": "0.6", "n": "9", "seed": seed, "run": "zoo-1"}
    return values | changes


def step(system: str, seed: str, value: str, **changes: str) -> Line:
    own = {"test": "training", "value": value, "low": "", "high": "", "n": "1"}
    return line(system, seed, BEST_STEP, **(own | changes))


def outcome(*scores: float) -> Outcome:
    return Outcome([Look(50 * place, 0, 0, 0, score) for place, score in enumerate(scores)])


@pytest.mark.parametrize(
    ("scores", "best"), [((0.2, 0.1, 0.3), 100), ((0.2, 0.2), 0), ((0.1, 0.3, 0.3), 50)]
)
def test_the_first_of_the_best_looks(scores: tuple[float, ...], best: int) -> None:
    """Training keeps the weights of the first: an equal one later has taught nothing."""
    rows = list(learning({"a": {2: outcome(*scores)}}))
    assert rows == [("a", "training", BEST_STEP, best, 1, None, None, 2)]


def test_seeds_means_and_comparisons() -> None:
    """Of a no seed learned, of b seed 2 did not, c is whole; d was measured before this was.

    Another form of a system is a network of its own.
    """
    steps = [step("a", "1", "0"), step("a", "2", "0"), step("b", "1", "50"), step("b", "2", "0")]
    steps.append(step("c", "1", "50"))
    asked = [
        *(line("a", "1"), line("a", "")),
        *(line("b", "1"), line("b", "2"), line("b", "")),
        *(line("c", ""), line("c-a", ""), line("c-b", ""), line("d", "")),
        *(line("a", "", dataset="esco"), line("a/smaller", "")),
    ]
    marks = [row[MARK] for row in marked([*steps, *asked])[len(steps) :]]
    partly = f"seed 2 {UNLEARNED}"
    assert marks == [UNLEARNED, UNLEARNED, "", UNLEARNED, partly, "", UNLEARNED, partly, *[""] * 3]


def test_a_figure_is_not_shown_but_what_training_cost_is() -> None:
    assert figure({**line("a", ""), MARK: UNLEARNED}) == UNLEARNED
    assert figure({**line("a", ""), MARK: "seed 2 did not learn"}) == (
        "0.500 [0.400, 0.600] (seed 2 did not learn)"
    )
    cost = line("a", "", "seconds", value="12.3", low="", high="")
    assert figure({**cost, MARK: UNLEARNED}) == "12.3"


def test_a_table_says_so() -> None:
    rows = [step("a", "1", "0"), line("a", "1"), step("b", "1", "50"), line("b", "1")]
    *_, made = Table("t", metric="success_at_1", ends=False).parts(marked(rows), [], {})
    assert made.splitlines()[2:] == [f"| a | {UNLEARNED} |", "| b | 0.500 |"]
