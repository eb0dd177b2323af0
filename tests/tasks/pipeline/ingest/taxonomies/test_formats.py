"""A format of taxonomies is a module: which there are, and what an unknown one is told."""

from __future__ import annotations

import inspect
from importlib import import_module

import pytest

from tasks.pipeline.ingest.params import checked_reader

FORMATS = ["esco", "esco_parquet", "onet", "sample", "table"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_read_by_the_module_of_its_name(name: str) -> None:
    assert checked_reader(name) == name
    read = import_module(f"tasks.pipeline.ingest.taxonomies.{name}").read
    assert list(inspect.signature(read).parameters) == ["params", "rejected"]


@pytest.mark.parametrize("name", ["isco", "", "__init__", "../text", "Esco", "esco.py"])
def test_an_unknown_format_is_told_which_there_are(name: str) -> None:
    with pytest.raises(ValueError, match=f"no reader of taxonomies; choose {', '.join(FORMATS)}"):
        checked_reader(name)
