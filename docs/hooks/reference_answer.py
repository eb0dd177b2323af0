"""The columns of an answer, from `Answer`, where each is declared once."""

from __future__ import annotations

from pathlib import Path
from typing import get_args, get_type_hints

from reference_tables import table

from models.normalizer.answers.columns import Answer, columns

WORDS: dict[type, str] = {str: "text", float: "number", bool: "true or false"}
LISTS: dict[type, str] = {str: "text", float: "numbers"}
HEAD = """# Answer columns

`predict` returns one row for each raw title, in the same order and with the same index. `rolecall
normalize` writes the same columns behind those of the input. If the model abstains, text and
numbers are null, lists are empty, and `reason` names the rule.
"""


def answer_page(root: Path) -> str:
    """Write the page."""
    declared = get_type_hints(Answer)
    rows = []
    for name, (kind, is_list, meaning) in columns().items():
        word = f"list of {LISTS[kind]}" if is_list else WORDS[kind]
        if type(None) in get_args(declared[name]):
            word += ", may be null"
        rows.append((f"`{name}`", word, meaning))
    return f"{HEAD}\n{table(('column', 'type', 'meaning'), rows)}\n"
