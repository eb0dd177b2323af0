"""Forms of address, which many tables hold in a column that is called `title`."""

from __future__ import annotations

import re
from collections.abc import Iterable

WORD = re.compile(r"\w+")
HONORIFICS = frozenset(
    WORD.findall(
        "mr mrs ms miss mx dr prof professor sir madam dame lord lady rev hon herr frau fräulein m "
        "mme mlle monsieur madame mademoiselle sr sra srta señor señora don doña dott dottssa sig "
        "sigra signor signora dhr mevr mw fru hr pan pani mgr dipl ing"
    )
)


def are_honorifics(values: Iterable[str]) -> bool:
    """Tell whether most values are forms of address (`Mr`, `Prof. Dr.`), empty ones aside."""
    filled = [value for value in values if value.strip()]
    return 2 * sum(map(_is_honorific, filled)) > len(filled)


def _is_honorific(value: str) -> bool:
    words = WORD.findall(value.casefold())
    return bool(words) and HONORIFICS.issuperset(words)
