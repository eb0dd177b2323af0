"""Codes of other standards, from a crosswalk file: `code, standard, other_code`, a pair a row.

`code` is an occupation_id or a code of the hierarchy above; of these the narrowest counts that the
file has for a standard. So a file from ISCO-08 to another standard serves every occupation of ESCO.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

COLUMNS = ["code", "standard", "other_code"]


def crosswalk_codes(
    file: Path, occupation_ids: Sequence[str], codes: Sequence[Sequence[str]]
) -> list[list[str]]:
    """Return of each occupation its other codes, as `standard: code`, in the order of the file.

    A ValueError names the line where a value is missing, or says that no row is of this taxonomy.
    """
    pairs: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for code, standard, other in _rows(file):
        pairs[code][standard].append(other)
    others = []
    for name, above in zip(occupation_ids, codes, strict=True):
        narrowest: dict[str, list[str]] = {}
        for code in (*above, name):
            narrowest |= pairs.get(code, {})
        others.append([f"{key}: {value}" for key, values in narrowest.items() for value in values])
    if not any(others):
        raise ValueError(
            f"{file}: none of its {len(pairs)} codes is an occupation_id or a code of this "
            f"taxonomy, such as {occupation_ids[0]!r}; is it another taxonomy's crosswalk?"
        )
    return others


def _rows(file: Path) -> Iterator[tuple[str, str, str]]:
    with file.open(encoding="utf-8-sig", newline="") as lines:
        rows = csv.DictReader(lines)
        missing = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
        if missing:
            raise ValueError(f"{file}: no column {', '.join(missing)}; it has {rows.fieldnames}")
        for number, row in enumerate(rows, start=2):
            code, standard, other = ((row[name] or "").strip() for name in COLUMNS)
            if not (code and standard and other):
                raise ValueError(f"{file}, line {number}: a value is missing in {row}")
            yield code, standard, other
