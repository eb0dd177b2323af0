"""Items that a thread makes while those before are used."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def ahead(items: Iterator[T]) -> Generator[T]:
    """Yield items in their order, of which a thread makes the next one meanwhile.

    An error takes the place of the item whose making failed. A caller that wants no more waits
    until the thread has made its present item.
    """
    end: Any = object()
    with ThreadPoolExecutor(1) as thread:
        following = thread.submit(next, items, end)
        while (item := following.result()) is not end:
            following = thread.submit(next, items, end)
            yield item
            del item  # no memory for it while the next one is made
