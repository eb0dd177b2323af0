"""What columns are usually called, in some languages, and how much a name speaks for a role."""

from __future__ import annotations

import re

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


def by_name(column: str, role: str) -> float:
    """Return how much a column's name speaks for a role: 0, `IN_PART` or `IN_FULL`."""
    words = " ".join(re.findall(r"[^\W_]+", column.casefold()))
    known = NAMES[role].split("|")
    if words in known:
        return IN_FULL
    return IN_PART * any(re.search(rf"\b{name}\b", words) for name in known)
