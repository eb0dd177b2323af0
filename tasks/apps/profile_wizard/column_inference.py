"""Columns and their roles: inferred from their names, and from their values.

A name counts if it is one of `NAMES`. Values count so: titles are words and differ from row to
row; an occupation's id stands in several rows, one a title, and determines label and codes; a
label of an input is an id of the taxonomy.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from tasks.apps.profile_wizard.column_stats import Choices, ColumnStats

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
    "language": "language|lang|language code|locale|sprache|langue|idioma|lingua|taal",
    "raw_title": (
        "raw title|raw|posting title|vacancy title|advertised title|job title|title|text|input|"
        "query|as written|stellentitel|jobtitel|titel|intitulé|título|titolo"
    ),
    "term": "term|word|phrase|a|begriff",
    "synonym": "synonym|other|same as|b",
}
IN_FULL, IN_PART, UNLIKE = 3.0, 1.0, 2.0
LONGEST_LANGUAGE = 3
"""Characters of a code such as `de` or `deu`."""
CLOSE = 0.5  # two columns that differ by less are both possible


class Unclear(ValueError):
    """No column, or several, may hold what is needed; the message says which there are."""

    def __init__(self, role: str, columns: Sequence[str]) -> None:
        """Take the columns that may each hold it."""
        several = f"{' and '.join(map(repr, columns))} may each be {role}"
        super().__init__(several if columns else f"no column looks like {role}")
        self.role, self.columns = role, columns


def by_name(column: str, role: str) -> float:
    """Return how much a column's name speaks for a role: 0, `IN_PART` or `IN_FULL`."""
    words = " ".join(re.findall(r"[^\W_]+", column.casefold()))
    names = NAMES[role].split("|")
    if words in names:
        return IN_FULL
    return IN_PART * any(re.search(rf"\b{name}\b", words) for name in names)


def choose(role: str, scores: Mapping[str, float]) -> list[str]:
    """Return the columns, the likeliest first; Unclear if there is none, or two are as likely."""
    ranked = sorted(scores, key=lambda name: -scores[name])
    if not ranked:
        raise Unclear(role, [])
    close = [name for name in ranked if scores[name] > scores[ranked[0]] - CLOSE]
    if len(close) > 1:
        raise Unclear(role, close)
    return ranked


def taxonomy_columns(columns: Mapping[str, ColumnStats], overrides: Mapping[str, str]) -> Choices:
    """Infer `occupation_id` and `title`, and if there are any the other roles of a taxonomy.

    Without a column of ids the label, which stands in several rows, is the id.

    `overrides`: role -> column, of the options.
    """
    choices = {role: [name] for role, name in overrides.items()}
    if "language" not in choices:
        named = {
            one.name: by_name(one.name, "language")
            for one in _free(columns, choices)
            if one.share(lambda value: len(value) <= LONGEST_LANGUAGE) > 0.9
        }
        choices |= _likely("language", named)
    if "occupation_id" not in choices:
        choices["occupation_id"] = choose("occupation_id", _ids(_free(columns, choices)))
    key = columns[choices["occupation_id"][0]]
    if "title" not in choices:
        wordy = [column for column in _free(columns, choices) if column.is_wordy]
        choices["title"] = choose("title", {one.name: _like_titles(one) for one in wordy})
    free = [one for one in _free(columns, choices) if one.repeats and key.determines(one)]
    if "occupation_label" not in choices and key.is_wordy:
        choices["occupation_label"] = [key.name]
    elif "occupation_label" not in choices:
        labels = {one.name: _like_labels(one, key) for one in free if one.is_wordy}
        choices |= _likely("occupation_label", labels)
    if "codes" not in choices:
        taken = {choice[0] for choice in choices.values()}
        above = {
            one.name: by_name(one.name, "codes")
            + IN_FULL * (one.share(lambda value: ">" in value) > 0.5)
            for one in free
            if one.name not in taken
        }
        choices |= _likely("codes", above)
    return choices


def inputs_columns(
    columns: Mapping[str, ColumnStats],
    overrides: Mapping[str, str],
    occupation_ids: Collection[str],
) -> Choices:
    """Infer `raw_title`, and `occupation_id` where half of a column's values are such ids.

    There are none where one title stands a line, the first in place of a header.
    """
    if len(columns) == 1 and not overrides and not by_name(next(iter(columns)), "raw_title"):
        return {}
    choices = {role: [name] for role, name in overrides.items()}
    if "occupation_id" not in choices:
        free = _free(columns, choices)
        shares = {one.name: one.share_of_ids(occupation_ids) for one in free}
        labels = {name: share for name, share in shares.items() if share >= 0.5}
        choices |= _likely("occupation_id", labels)
    if "raw_title" not in choices:
        wordy = [one for one in _free(columns, choices) if one.is_wordy]
        scores = {one.name: by_name(one.name, "raw_title") + _distinctness(one) for one in wordy}
        choices["raw_title"] = choose("raw_title", scores)
    return choices


def synonyms_columns(columns: Mapping[str, ColumnStats], overrides: Mapping[str, str]) -> Choices:
    """Infer `term` and `synonym`, which mean the same both ways: of two columns either is right."""
    choices = {role: [name] for role, name in overrides.items()}
    for role in ("term", "synonym"):
        if role not in choices:
            free = [one.name for one in _free(columns, choices)]
            named = {name: score for name in free if (score := by_name(name, role))}
            choices[role] = [free[0]] if len(columns) == 2 else choose(role, named)
    return choices


def _free(columns: Mapping[str, ColumnStats], choices: Choices) -> list[ColumnStats]:
    """Return the columns that are not chosen yet."""
    taken = {choice[0] for choice in choices.values()}
    return [column for name, column in columns.items() if name not in taken]


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
    is_label = by_name(column.name, "occupation_label") == IN_FULL
    return by_name(column.name, "title") - IN_FULL * is_label + _distinctness(column)


def _distinctness(column: ColumnStats) -> float:
    return UNLIKE * column.distinct / max(1, len(column.values))


def _like_labels(column: ColumnStats, key: ColumnStats) -> float:
    """One for each id, or nearly: a group's name stands for several."""
    likeness = by_name(column.name, "occupation_label") + UNLIKE * column.distinct / key.distinct
    return likeness if column.distinct >= 0.9 * key.distinct else 0.0


def _likely(role: str, scores: Mapping[str, float]) -> Choices:
    """Choose where it is clear; what is not needed may be missing."""
    try:
        return {role: choose(role, {name: score for name, score in scores.items() if score})}
    except Unclear:
        return {}
