"""Taxonomies, one module a format, named as in `ingest.taxonomy.reader`.

A module has a function `read` of the section `ingest.taxonomy` and the rejected rows; a new format
is a module here and its test.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from tasks.pipeline.ingest.params import TaxonomyParams
from tasks.pipeline.ingest.taxonomy import Taxonomy
from tasks.tables.rejected import RejectedRows


def taxonomy_reader(name: str) -> Callable[[TaxonomyParams, RejectedRows], Taxonomy]:
    """Return the function that reads this format."""
    read: Callable[[TaxonomyParams, RejectedRows], Taxonomy] = import_module(
        f"{__name__}.{name}"
    ).read
    return read
