"""A package of another format is refused with what to do."""

from __future__ import annotations

import pytest

from models.normalizer.package_format import FORMAT, check_format

EARLIER = r"trained by an earlier version: run `rolecall retrain`$"


def test_this_format_is_accepted() -> None:
    check_format({"format": FORMAT}, "mine")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"format": FORMAT - 1}, rf"^mine has format {FORMAT - 1}, not {FORMAT}; {EARLIER}"),
        ({"format": "old"}, EARLIER),
        ({}, rf"^mine has format unknown, not {FORMAT}; {EARLIER}"),
        ({"format": FORMAT + 1}, r"trained by a later version: update rolecall$"),
    ],
)
def test_others_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_format(settings, "mine")
