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


def read_taxonomy(params: TaxonomyParams, rejected: RejectedRows) -> Taxonomy:
    """Read the files with the reader that `params` name, titles of `params.languages` alone.

    Raises:
        IngestError: a file or a column is missing, or no title is in one of these languages.
    """
    read: Callable[[TaxonomyParams, RejectedRows], Taxonomy] = import_module(
        f"{__name__}.{params.reader}"
    ).read
    return read(params, rejected).in_languages(params.languages)
