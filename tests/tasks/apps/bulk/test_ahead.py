"""Items that a thread makes: in order, one ahead, with what fails in its place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from threading import Event, get_ident

import pytest

from tasks.apps.bulk.ahead import ahead


def test_items_come_in_order_through_several_threads() -> None:
    numbers = ahead(map(str, ahead(iter([3, None, 1, 2]))))
    assert [*numbers] == ["3", "None", "1", "2"]
    assert [*ahead(iter(()))] == []


def test_the_next_item_is_made_while_one_is_used() -> None:
    made, used = Event(), Event()

    def items() -> Iterator[int]:
        yield get_ident()
        assert used.wait(60)
        made.set()
        yield get_ident()

    numbers = ahead(items())
    first = next(numbers)
    used.set()
    assert made.wait(60), "nobody has asked for the second one"
    assert first == next(numbers) != get_ident()


def test_a_failure_comes_behind_what_was_made_before() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("damaged")

    numbers = ahead(items())
    assert next(numbers) == 1
    with pytest.raises(ValueError, match="damaged"):
        next(numbers)


def test_nothing_is_made_once_it_is_closed() -> None:
    made: list[int] = []
    with closing(ahead(map(made.append, range(9)))) as numbers:
        next(numbers)
    assert len(made) == 2
