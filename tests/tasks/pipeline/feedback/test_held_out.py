"""Which judged titles are kept from training, and the queries that they become."""

from __future__ import annotations

import hashlib

import polars as pl
import pytest
from frames_of import aliases_of, frame_of

from tasks.io.frames import check
from tasks.io.schemas import JUDGED, QUERIES, REVIEWS
from tasks.pipeline.feedback.held_out import gate_queries, held_out, is_held_out

TITLES = [f"title {number}" for number in range(1000)]


def test_the_hash_alone_decides() -> None:
    """The first 52 bits of SHA-256 as a number between 0 and 1: below the share, reserved."""
    for title in TITLES[:50]:
        place = int(hashlib.sha256(title.encode()).hexdigest()[:13], 16) / 2**52
        assert [is_held_out(title, share) for share in (0.0, place, 1.0)] == [False, False, True]
        assert is_held_out(title, place + 1e-9)


@pytest.mark.parametrize("share", [0.1, 0.35])
def test_the_share_is_about_what_it_says_and_grows(share: float) -> None:
    """Of 1,000 within 5 standard deviations; a larger share keeps all of a smaller one."""
    some = {title for title in TITLES if is_held_out(title, share)}
    assert abs(len(some) - 1000 * share) < 5 * (1000 * share * (1 - share)) ** 0.5
    assert some < {title for title in TITLES if is_held_out(title, share + 0.1)}


def judged(*rows: tuple[str, str, str | None, bool]) -> pl.DataFrame:
    """Schema `JUDGED` from (raw title, fate, right occupation, reserved)."""
    return frame_of(
        ((raw, "cook", resolution, False, right, kept) for raw, resolution, right, kept in rows),
        JUDGED,
    )


def test_titles_that_train_anyway_are_not_reserved() -> None:
    frame = judged(("A!", "correct", "cook", False), ("b", "correct", "cook", False))
    assert held_out(frame, reviews_of(), 1.0, {"a"}).to_list() == [False, True]
    assert held_out(frame.clear(), reviews_of(), 1.0, set()).to_list() == []


def reviews_of(*rows: tuple[str, str | None]) -> pl.DataFrame:
    """Schema `REVIEWS` from (raw title, how a queue chose it)."""
    who = ("ann", "2026-01-01")
    values = (
        (raw, "cook", "correct", "cook", *who, chosen, "v", None, False) for raw, chosen in rows
    )
    return frame_of(values, REVIEWS)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_of_a_queue_random_and_disputed_titles_are_held_out(share: float) -> None:
    """Whatever the share, which is of titles from no queue; one reviewer's mark is enough."""
    names = ("drawn", "chosen", "by hand", "known", "two answers")
    frame = judged(*((name, "correct", "cook", False) for name in names))
    reviews = reviews_of(
        ("Drawn!", "random"),
        ("drawn", None),
        ("chosen", "coverage"),
        ("by hand", None),
        ("known", "random"),
        ("two answers", "disputed"),
    )
    hashed = share == 1.0
    for rows in (reviews, reviews.reverse()):
        kept = held_out(frame, rows, share, {"known"}).to_list()
        assert kept == [True, False, hashed, False, True]


def test_queries_by_hand() -> None:
    """One a title, though two answers were judged; who is right must be known."""
    aliases = aliases_of([("cook", "Cook", True, "train"), ("cook", "Chef", False, "train")])
    frame = judged(
        ("Fry cook!", "correct", "cook", True),
        ("Fry cook!", "incorrect", "cook", True),
        ("unknown", "incorrect", None, True),
        ("trained", "correct", "cook", False),
    )
    queries = check(gate_queries(frame, reviews_of(), aliases), QUERIES, "queries")
    digest = hashlib.sha256(b"fry cook").hexdigest()[:16]
    assert queries.rows() == [
        (
            *(f"feedback-{digest}", "annotations", "gate", "Fry cook!", "fry cook!", "fry cook"),
            *(["cook"], 2, "feedback"),
        )
    ]
    assert gate_queries(frame.clear(), reviews_of(), aliases).is_empty()
    marked = reviews_of(("fry cook", "disputed"))
    assert gate_queries(frame, marked, aliases)["test"].to_list() == ["disputed"]
    also = pl.concat([marked, reviews_of(("fry cook", "random"))])
    assert gate_queries(frame, also, aliases)["test"].to_list() == ["random_titles"]
