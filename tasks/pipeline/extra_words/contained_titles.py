"""Which titles an input holds whole: the paper's "complete and strict substring".

Both sides are normalized (`models/text/titles.py`). A title is held where its characters stand in
the input between word boundaries, and strictly: the whole input is no title held by itself. Words
end at white space and at a slash ("developer/programmer" holds "developer"), and full stops that
end a word stand outside it ("nurse. london" holds "nurse"). The rest of the kept punctuation
belongs to its word: "c" is neither in "c++" nor in "c#", "r" is not in "r&d", "net" not in ".net".

Neculoiu et al. 2016, section 4.2, point 3.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

STARTS = re.compile(r"(?<![^ /])[^ ]")
ENDS = re.compile(r"(?<=[^ ])(?=\.*(?:[ /]|\Z))")


def contained_titles(inputs: Sequence[str], titles: Collection[str]) -> list[list[str]]:
    """Find the titles that each input holds as a complete and strict substring.

    The time is linear in the inputs' words: every run of words as long as a title can be is looked
    up in `titles`, and no loop runs over these.

    Args:
        inputs: normalized.
        titles: normalized, with a fast `in` (a set, or the keys of a dict).

    Returns:
        One list an input, without repetition: the longest title first, of equally long ones the
        leftmost.
    """
    longest = max(map(len, titles), default=0)
    return [_contained(text, titles, longest) for text in inputs]


def _contained(text: str, titles: Collection[str], longest: int) -> list[str]:
    held = (run for run in _runs(text, longest) if run in titles and run != text)
    return sorted(dict.fromkeys(held), key=len, reverse=True)


def _runs(text: str, longest: int) -> Iterator[str]:
    """Yield all runs of whole words of at most `longest` characters, from left to right."""
    ends = [match.start() for match in ENDS.finditer(text)]
    first = 0
    for match in STARTS.finditer(text):
        start = match.start()
        while first < len(ends) and ends[first] <= start:
            first += 1
        for place in range(first, len(ends)):
            if ends[place] - start > longest:
                break
            yield text[start : ends[place]]
