"""Which titles with verdicts are kept from training, and the queries that they become."""

import hashlib

import polars as pl
import pytest
from feedback_tables import verdict, verdicts_of
from frames_of import aliases_of, frame_of

from tasks.io.frames import check
from tasks.io.schemas import QUERIES, RESOLUTIONS
from tasks.pipeline.feedback.held_out import gate_queries, held_out, is_held_out

TITLES = [f"title {number}" for number in range(1000)]


def test_the_hash_alone_decides() -> None:
    """The first 52 bits of SHA-256 as a number between 0 and 1: below the share, reserved."""
    for title in TITLES[:50]:
        place = int(hashlib.sha256(title.encode()).hexdigest()[:13], 16) / 2**52
        assert [is_held_out(title, share) for share in (0.0, place, 1.0)] == [False, False, True]
        assert is_held_out(title, place + 1e-9)


def chosen(*rows: tuple[str, str | None]) -> pl.DataFrame:
    """Verdicts on (raw title, how a queue chose it)."""
    return verdicts_of(*(verdict(raw, "cook", "correct", chosen_by=way) for raw, way in rows))


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_of_a_queue_random_and_disputed_titles_are_held_out(share: float) -> None:
    """Whatever the share, which is of titles from no queue; one reviewer's mark is enough.

    Titles that train anyway are not held out.
    """
    names = pl.Series(["drawn", "chosen", "by hand", "known", "two answers"])
    rows = [("Drawn!", "random"), ("drawn", None), ("chosen", "coverage"), ("by hand", None)]
    verdicts = chosen(*rows, ("known", "random"), ("two answers", "disputed"))
    for rows in (verdicts, verdicts.reverse()):
        kept = held_out(names, rows, share, {"known"}).to_list()
        assert kept == [True, False, share == 1.0, False, True]
    assert held_out(names.clear(), verdicts, share, set()).to_list() == []


def test_queries_by_hand() -> None:
    """One a title, though two answers have verdicts; the correct one must be known."""
    aliases = aliases_of([("cook", "Cook", True, "train"), ("cook", "Chef", False, "train")])
    rows = [
        ("Fry cook!", "cook", None, "correct", False, "cook", True),
        ("Fry cook!", "nurse", None, "incorrect", False, "cook", True),
        ("unknown", "cook", None, "incorrect", False, None, True),
        ("trained", "cook", "cook", "correct", False, "cook", False),
    ]
    frame, none = frame_of(rows, RESOLUTIONS), verdicts_of()
    queries = check(gate_queries(frame, none, aliases), QUERIES, "queries")
    digest = hashlib.sha256(b"fry cook").hexdigest()[:16]
    texts = (f"feedback-{digest}", "annotations", "gate", "Fry cook!", "fry cook!", "fry cook")
    assert queries.rows() == [(*texts, ["cook"], 2, "feedback")]
    assert gate_queries(frame.clear(), none, aliases).is_empty()
    for ways, test in ((["disputed"], "disputed"), (["disputed", "random"], "random_titles")):
        marked = chosen(*(("fry cook", way) for way in ways))
        assert gate_queries(frame, marked, aliases)["test"].to_list() == [test]
