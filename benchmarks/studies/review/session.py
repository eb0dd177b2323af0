"""A person at the review page: opening it, and how long each of many keys took to be shown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.studies.review.chromium import Tab

KEYS = ("a", "ArrowDown", "Enter", "n", "s", "u", "Shift+a", "Shift+a", "j", "2", "4", "d")
"""Every way to decide and to take back, once."""
LISTEN = """
window.times = [];
addEventListener("keydown", (event) => requestAnimationFrame(() => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => times.push(performance.now() - event.timeStamp);
  port2.postMessage(null);
}), true);
"""
SHOWN = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
"""Until the frame behind a key is shown; nobody presses the next one before."""
OPENED = """
new Promise((done) => requestAnimationFrame(() => setTimeout(() => done([
  performance.getEntriesByName("first-contentful-paint")[0].startTime,
  performance.getEntriesByType("navigation")[0].loadEventEnd,
]))))
"""


class Session(NamedTuple):
    """Milliseconds."""

    painted: float
    """From the page's address to its first text."""
    loaded: float
    keys: list[float]
    """Of each key, from its press to the frame that shows what it did."""


def session(tab: Tab, page: Path, searches: Sequence[str]) -> Session:
    """Open a page, give no name, and for each search decide as `KEYS` and by what it finds."""
    tab.open(page)
    painted, loaded = tab.value(OPENED)
    tab.press("Enter")
    tab.value(LISTEN)
    for words in searches:
        for key in (*KEYS, "/", *words, "ArrowDown", "Enter"):
            tab.press(key)
            tab.value(SHOWN)
    return Session(painted, loaded, tab.value("times"))
