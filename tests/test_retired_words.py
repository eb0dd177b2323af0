"""Names and words of the project's earlier language do not come back.

`NAMES` are identifiers and `PHRASES` are regular expressions, each with its successor. Changelog,
log and generated figures are history.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("flows", "tasks", "models", "benchmarks")
MODULES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
HISTORY = {"CHANGELOG.md", "docs/LOG.md"}
PAGES = [
    path
    for pattern in (
        "*.md",
        "*.yaml",
        "docs/**/*.md",
        "docs/*.svg",
        "profiles/*.yaml",
        "*/README.md",
    )
    for path in sorted(ROOT.glob(pattern))
    if path.relative_to(ROOT).as_posix() not in HISTORY
]
NAMES = {
    "affected": "impact",
    "apart": "negative_mask",
    "asked": "queried",
    "asking": "rescore",
    "catalogue": "taxonomy_labels",
    "companion": "auxiliary_taxonomy",
    "cut": "truncated",
    "decides": "gating_tests",
    "earlier_model": "reference_model",
    "ending": "error_handling",
    "evidence": "exemplars",
    "familiar": "ood_threshold",
    "familiarity": "ood_score",
    "fate": "resolution",
    "filling": "answer_columns",
    "flips": "changed_predictions",
    "guesses": "choices",
    "harm": "alpha",
    "judgement": "run_gate",
    "judging": "gate",
    "ledger": "rejected_rows",
    "looked_at": "column_stats",
    "lost_share": "max_false_rejection_rate",
    "material": "report_data",
    "mended": "repairs",
    "nothing_to_do": "up_to_date",
    "opinions": "feedback_rows",
    "other_codes": "crosswalk_codes",
    "outranked": "contradicted_pairs",
    "own_words": "distinguishing_words",
    "packed_tables": "quantization",
    "probe_titles": "valid_titles",
    "products": "similarities",
    "proposal": "profile_draft",
    "pruning": "two_stage_search",
    "queued": "build_queue",
    "quiet": "environment",
    "repeatable": "reproducibility",
    "reserve": "held_out",
    "reserved": "held_out",
    "rival": "runner_up",
    "rival_words": "runner_up_words",
    "rounds": "positives_per_anchor",
    "said": "reviews",
    "shared_tables": "external_weights",
    "shown": "preview",
    "sure_code": "best_confident_code",
    "taught_run": "distillation",
    "told": "overrides",
    "trial": "dry_run",
    "turns": "champion_lock",
    "variants_meet": "variant_positive",
    "varied": "diversify",
    "variety": "diversify",
    "wanted": "predict_params",
    "watched": "tracked",
    "whole_file": "atomic_write",
}
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
ALLOWED = {
    # its draws are seeded by the stage's first name, so that outputs keep their bytes
    ("tasks/pipeline/auxiliary_taxonomy/stage.py", "companion"),
    # it says that files with the earlier words are still read
    ("docs/guides/feedback.md", r"\bno job title\b(?!s)"),
}
"""Pairs of a file and a word of it that has another meaning there."""


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def identifiers(path: Path) -> Iterator[str]:
    """Names that a module defines or uses, its path, and strings, which may name columns."""
    yield from path.relative_to(ROOT).with_suffix("").parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for field in ("name", "arg", "attr", "id", "asname", "value"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                yield from value.split(".")


def retired(path: Path) -> set[str]:
    """Return the retired names and phrases of a file, those that are allowed left out."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"<!-- figures:begin.*?figures:end", "", text, flags=re.DOTALL)
    words = {phrase for phrase in PHRASES if re.search(phrase, text, re.IGNORECASE)}
    if path.suffix == ".py":
        words |= {name.strip("_") for name in identifiers(path)} & NAMES.keys()
    if path.suffix == ".yaml":
        words |= set(re.findall(r"^ *(\w+):", text, re.MULTILINE)) & NAMES.keys()
    return words - {word for file, word in ALLOWED if file == relative(path)}


@pytest.mark.parametrize("path", [*MODULES, *PAGES], ids=relative)
def test_a_file_has_no_retired_word(path: Path) -> None:
    successors = {**NAMES, **PHRASES}
    assert {word: successors[word] for word in retired(path)} == {}


def test_a_retired_word_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    module, page, params = (tmp_path / name for name in ("flips.py", "page.md", "params.yaml"))
    module.write_text("def _cut(fate):\n    return fate.harm(trial=1)['own_words']\n")
    page.write_text("It is shown worse.\n<!-- figures:begin -->\na ledger\n<!-- figures:end -->\n")
    params.write_text("gate:\n  harm: 0.04\n")
    assert retired(module) == {"flips", "cut", "fate", "harm", "trial", "own_words"}
    assert retired(page) == {r"shown (to be )?worse"}
    assert retired(params) == {"harm"}
