"""Names and words of the project's earlier language do not come back.

`NAMES` are identifiers, `PHRASES` regular expressions, each with its successor. Changelog, log and
generated figures are history.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("flows", "tasks", "models", "benchmarks")
MODULES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
HISTORY = {ROOT / "CHANGELOG.md", ROOT / "docs/LOG.md"}
PATTERNS = ("*.md", "*.yaml", "docs/**/*.md", "docs/*.svg", "profiles/*.yaml", "*/README.md")
PAGES = sorted({path for pattern in PATTERNS for path in ROOT.glob(pattern)} - HISTORY)
RETIRED = """
affected apart asked asking catalogue companion cut decides earlier_model ending familiar
familiarity fate filling flips guesses harm judgement judging ledger looked_at lost_share
material mended nothing_to_do opinions other_codes outranked own_words packed_tables
probe_titles products proposal pruning queued quiet repeatable reserve reserved rival
rival_words rounds said shared_tables shown sure_code taught_run told trial turns variants_meet
varied variety wanted watched whole_file
"""
NAMES = set(RETIRED.split())
PHRASES = {
    r"\bhouses?\b": "project",
    r"\bdoors?\b": "interfaces",
    r"shown (to be )?worse": "significantly worse",
    r"second track": "similarity track",
    r"stages? `?(score|companion|evidence|code|earlier_model)\b": "the stage's name in dvc.yaml",
    r"\bfamiliar": "out-of-distribution score",
    r"\bledger": "rejected rows",
    r"\bcatalogue": "taxonomy labels",
    r"\bearlier model": "reference model",
    r"\bno job title\b(?!s)": "not a job title",
    r'"""What ': "subject first",
    r"\b(pruned|pruning)\b": "two-stage search",
    r"rolecall (profile|registry|feedback)\b": "rolecall init, models, apply-feedback",
}
ALLOWED = {  # a file and a word of it that has another meaning there
    ("tasks/pipeline/auxiliary_taxonomy.py", "companion"),  # seeds draws, so that bytes stay
    ("docs/guides/feedback.md", r"\bno job title\b(?!s)"),  # files with it are still read
}


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def identifiers(path: Path) -> Iterator[str]:
    """Names that a module defines or uses, its path, and strings, which may name columns."""
    yield from path.relative_to(ROOT).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for field in ("name", "arg", "attr", "id", "asname", "value"):
            if isinstance(value := getattr(node, field, None), str):
                yield from value.split(".")


def retired(path: Path) -> set[str]:
    """Return the retired names and phrases of a file, those that are allowed left out."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"<!-- figures:begin.*?figures:end", "", text, flags=re.DOTALL)
    words = {phrase for phrase in PHRASES if re.search(phrase, text, re.IGNORECASE)}
    if path.suffix == ".py":
        words |= {name.strip("_") for name in identifiers(path)} & NAMES
    if path.suffix == ".yaml":
        words |= set(re.findall(r"^ *(\w+):", text, re.MULTILINE)) & NAMES
    return words - {word for file, word in ALLOWED if file == relative(path)}


@pytest.mark.parametrize("path", [*MODULES, *PAGES], ids=relative)
def test_a_file_has_no_retired_word(path: Path) -> None:
    assert {word: PHRASES.get(word, "an identifier") for word in retired(path)} == {}
