"""Columns and their roles: inferred from their names, and from their values.

A name counts if it is one of `NAMES`. Values count so: titles are words and differ from row to
row; an occupation's id stands in several rows, one a title, and determines label and codes; a
label of an input is an id of the taxonomy.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from tasks.apps.profile_wizard.column_stats import ColumnStats

NAMES = {
    "occupation_id": (
        "occupation id|id|code|job code|occupation code|isco|isco code|esco|concept uri|uri|"
        "onet soc code|soc code|noc|rome|kldb|key|number|kennziffer|nummer|identifiant|código"
    ),
    "title": (
        "title|alias|job title|also called|alternate title|alternative title|alt label|synonym|"
        "other name|name|reported job title|bezeichnung|berufsbezeichnung|titel|intitulé|"
        "appellation|título|denominación|denominazione"
    ),
    "occupation_label": (
        "occupation label|label|occupation|occupation title|preferred label|preferred title|"
        "standard title|official title|main title|beruf|métier|ocupación|professione|profissão"
    ),
    "codes": (
        "codes|path|hierarchy|family|job family|category|group|major group|branch|sector|"
        "department|area|field|berufsgruppe|famille|familia"
    ),
    "raw_title": (
        "raw title|raw|posting title|vacancy title|advertised title|job title|title|text|input|"
        "query|as written|stellentitel|jobtitel|titel|intitulé|título|titolo"
    ),
    "term": "term|word|phrase|a|begriff",
    "synonym": "synonym|other|same as|b",
}
IN_FULL, IN_PART, UNLIKE = 3.0, 1.0, 2.0
CLOSE = 0.5  # two columns that differ by less are both possible


class Unclear(ValueError):
    """No column, or several, may hold what is needed; the message says which there are."""


@dataclass(frozen=True)
class ColumnGuess:
    """The column that was chosen, and others that may hold the same."""

    column: str
    others: tuple[str, ...] = ()


def by_name(column: str, role: str) -> float:
    """Return how much a column's name speaks for a role: 0, `IN_PART` or `IN_FULL`."""
    words = " ".join(re.findall(r"[^\W_]+", column.casefold()))
    known = NAMES[role].split("|")
    if words in known:
        return IN_FULL
    return IN_PART * any(re.search(rf"\b{name}\b", words) for name in known)


def choose(role: str, scores: Mapping[str, float]) -> ColumnGuess:
    """Choose the column of the highest score.

    Raises:
        Unclear: there is none, or two are as likely.
    """
    ranked = sorted(scores, key=lambda name: -scores[name])
    if not ranked:
        raise Unclear(f"no column looks like {role}")
    close = [name for name in ranked if scores[name] > scores[ranked[0]] - CLOSE]
    if len(close) > 1:
        raise Unclear(f"{' and '.join(map(repr, close))} may each be {role}")
    return ColumnGuess(ranked[0], tuple(ranked[1:]))


def taxonomy_columns(
    columns: Mapping[str, ColumnStats], overrides: Mapping[str, str]
) -> dict[str, ColumnGuess]:
    """Guess `occupation_id` and `title`, and if there are any `occupation_label` and `codes`.

    Without a column of ids the label, which stands in several rows, is the id.

    `overrides`: role -> column, of the options.
    """
    guesses = {role: ColumnGuess(name) for role, name in overrides.items()}
    free = [column for column in columns.values() if column.name not in overrides.values()]
    if "occupation_id" not in guesses:
        guesses["occupation_id"] = choose("occupation_id", _ids(free))
    key = columns[guesses["occupation_id"].column]
    free = [column for column in free if column.name != key.name]
    if "title" not in guesses:
        wordy = [column for column in free if column.is_wordy]
        guesses["title"] = choose("title", {one.name: _like_titles(one) for one in wordy})
    free = [column for column in free if column.name != guesses["title"].column]
    determined = [column for column in free if column.repeats and key.determines(column)]
    if "occupation_label" not in guesses and key.is_wordy:
        guesses["occupation_label"] = ColumnGuess(key.name)
    elif "occupation_label" not in guesses:
        labels = {one.name: _like_labels(one, key) for one in determined if one.is_wordy}
        guesses |= _likely("occupation_label", labels)
    taken = {guess.column for guess in guesses.values()}
    if "codes" not in guesses:
        above = {one.name: _like_codes(one) for one in determined if one.name not in taken}
        guesses |= _likely("codes", above)
    return guesses


def inputs_columns(
    columns: Mapping[str, ColumnStats], overrides: Mapping[str, str], known: Collection[str]
) -> dict[str, ColumnGuess]:
    """Guess `raw_title`, and `occupation_id` where half of what a column holds are `known` ids."""
    guesses = {role: ColumnGuess(name) for role, name in overrides.items()}
    free = [column for column in columns.values() if column.name not in overrides.values()]
    if "occupation_id" not in guesses:
        shares = {one.name: one.share(lambda value: value in known) for one in free}
        labels = {name: share for name, share in shares.items() if share >= 0.5}
        guesses |= _likely("occupation_id", labels)
    labelled = guesses.get("occupation_id")
    if "raw_title" not in guesses:
        wordy = [
            one for one in free if one.is_wordy and not (labelled and one.name == labelled.column)
        ]
        scores = {one.name: by_name(one.name, "raw_title") + _distinctness(one) for one in wordy}
        guesses["raw_title"] = choose("raw_title", scores)
    return guesses


def synonyms_columns(
    columns: Mapping[str, ColumnStats], overrides: Mapping[str, str]
) -> dict[str, ColumnGuess]:
    """Guess `term` and `synonym`, which mean the same both ways: of two columns either is right."""
    guesses = {role: ColumnGuess(name) for role, name in overrides.items()}
    for role in ("term", "synonym"):
        taken = {guess.column for guess in guesses.values()} | set(overrides.values())
        free = [name for name in columns if name not in taken]
        if role not in guesses:
            only = len(columns) == len(("term", "synonym"))
            guesses[role] = ColumnGuess(free[0]) if only else choose(role, _named(free, role))
    return guesses


def _named(names: Iterable[str], role: str) -> dict[str, float]:
    scores = {name: by_name(name, role) for name in names}
    return {name: score for name, score in scores.items() if score}


def _ids(columns: Iterable[ColumnStats]) -> dict[str, float]:
    """Score columns that stand in several rows; of equal ones, the finer is an occupation's."""
    repeated = [column for column in columns if column.repeats]
    most = max((column.distinct for column in repeated), default=1)
    return {
        one.name: max(by_name(one.name, "occupation_id"), by_name(one.name, "occupation_label") - 1)
        + UNLIKE * one.is_coded
        - by_name(one.name, "codes")
        + one.distinct / most
        for one in repeated
    }


def _like_titles(column: ColumnStats) -> float:
    other = by_name(column.name, "occupation_label")
    return (
        by_name(column.name, "title") - (other if other == IN_FULL else 0) + _distinctness(column)
    )


def _distinctness(column: ColumnStats) -> float:
    return UNLIKE * column.distinct / max(1, len(column.values))


def _like_labels(column: ColumnStats, key: ColumnStats) -> float:
    """One for each id, or nearly: a group's name stands for several."""
    likeness = by_name(column.name, "occupation_label") + UNLIKE * column.distinct / key.distinct
    return likeness if column.distinct >= 0.9 * key.distinct else 0.0


def _like_codes(column: ColumnStats) -> float:
    return by_name(column.name, "codes") + IN_FULL * (
        column.share(lambda value: ">" in value) > 0.5
    )


def _likely(role: str, scores: Mapping[str, float]) -> dict[str, ColumnGuess]:
    """Choose where it is clear; what is not needed may be missing."""
    try:
        return {role: choose(role, {name: score for name, score in scores.items() if score})}
    except Unclear:
        return {}
