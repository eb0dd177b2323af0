"""The titles that an input holds whole: the paper's "complete and strict substring".

Both sides are normalized. A title is held where its characters stand in the input between word
boundaries; an input does not hold itself. Words end at white space and at a slash
("developer/programmer" holds "developer"), and full stops that end a word stand outside it ("nurse.
london" holds "nurse"). Other kept punctuation belongs to its word: "c" is not in "c++", "r" not in
"r&d", "net" not in ".net". Neculoiu et al. 2016, section 4.2, point 3.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

STARTS = re.compile(r"(?<![^ /])[^ ]")
ENDS = re.compile(r"(?<=[^ ])(?=\.*(?:[ /]|\Z))")


def contained_titles(inputs: Sequence[str], titles: Collection[str]) -> list[list[str]]:
    """Find the normalized titles that each normalized input holds; one list an input.

    The longest title is first, of equally long ones the leftmost. Every run of words as long as a
    title can be is looked up in `titles` (a set, or the keys of a dict), so the time is linear in
    the inputs.
    """
    longest, contained = max(map(len, titles), default=0), []
    for text in inputs:
        held = (run for run in _runs(text, longest) if run in titles and run != text)
        contained.append(sorted(dict.fromkeys(held), key=len, reverse=True))
    return contained


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
