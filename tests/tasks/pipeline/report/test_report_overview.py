"""Learning curves, and what confidence is fitted on."""

import polars as pl
import pytest
from report_world import PageReader

from tasks.io.schemas import HISTORY
from tasks.pipeline.report.overview import best_look, confidence, learning

NAN = float("nan")


@pytest.mark.thorough
def test_kept_step_is_the_first_of_the_best_looks(report_data):
    assert best_look(report_data.history) == (50, 0.6)
    words = PageReader(learning(report_data)).words
    assert "step 50 of 100" in words
    assert "did not learn" not in words and "steps on people" not in words
    assert best_look(pl.DataFrame(schema=dict(HISTORY))) is None


@pytest.mark.thorough
def test_a_network_that_did_not_learn_is_said_to_be_one(report_data, change):
    """Give every later look the score of the one before training."""
    first = report_data.history["valid_score"][0]
    history = report_data.history.with_columns(valid_score=pl.lit(first))
    words = PageReader(learning(change(history=history))).words
    assert "This network did not learn" in words and "step 0 of 100" in words


@pytest.mark.thorough
def test_steps_on_verdicts_follow_the_kept_step(report_data, change):
    """No validation query judges them, so they have no score and are the served ones."""
    more = pl.DataFrame([(220, 0.9, 0.4, 0.5, NAN)], schema=dict(HISTORY), orient="row")
    page = learning(change(history=pl.concat([report_data.history, more])))
    words = PageReader(page).words
    assert "step 50 of 100" in words and "120 steps on people" in words


MISSING = "28 labelled titles; confidence needs 50, about 240 more rows"


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        (
            {"calibrated_on": "annotations", "calibration_queries": 1500},
            "<p>Confidence is fitted on 1,500 labelled titles that no test queries.</p>",
        ),
        (
            {"calibrated_on": "heldout_alias", "calibration_queries": 70, "missing": MISSING},
            f"<p>{MISSING}. Confidence is fitted on 70 titles of Held-out alias instead.</p>",
        ),
        (
            {"calibrated_on": "nothing", "calibration_queries": 0, "missing": MISSING},
            f"<p>{MISSING}. The registered model gives no confidence.</p>",
        ),
    ],
)
def test_what_confidence_rests_on(change, counts, words):
    """The message of the stage `calibrate` stands as it is."""
    page = confidence(change(calibration=counts))
    assert words in page
    assert "<strong>The gate</strong>" in page
