"""Section `synonyms` of `params.yaml`: manual synonyms, rules of induction, sizes of the tests."""

from __future__ import annotations

from typing import ClassVar, Literal

from tasks.io.section import Count, Number, Section, Share


class SynonymsParams(Section):
    """Section `synonyms`: the manual set, the rules of induction, and the Composition test."""

    NAME: ClassVar[str] = "synonyms"
    reader: Literal["table", "thesaurus", "none"]
    file: str
    columns: dict[str, str]
    max_shared_words: Count
    max_part_words: Count
    min_contexts: Count
    test_share: Share
    max_test: Number
    valid_titles: Number
    gate_titles: Number
    max_rejected_share: Share
