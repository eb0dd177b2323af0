"""The report names what confidence is fitted on, or what is missing for one."""

from __future__ import annotations

import pytest

from tasks.pipeline.report.sections.confidence import confidence

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
