"""One section at a time: a stage is stopped by its own faults and by no other's."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tasks.io.section import ParamsError, load, load_run, read_values
from tasks.pipeline.ingest.stage import IngestParams
from tasks.pipeline.lexical import LexicalParams
from tasks.pipeline.pairs.drawn_pairs import PairsParams
from tasks.pipeline.typos import TyposParams

DEFAULT = Path(__file__).parents[3] / "params.yaml"
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write the defaults with values of sections laid over them; `None` takes a section away."""

    def written(**changes: Any) -> Path:
        values = yaml.safe_load(DEFAULT.read_text(encoding="utf-8"))
        for name, value in changes.items():
            values[name] = values[name] | value if isinstance(value, dict) else value
            if value is None:
                del values[name]
        path = tmp_path / "params.yaml"
        path.write_text(yaml.safe_dump(values), encoding="utf-8")
        return path

    return written


@pytest.mark.thorough
def test_a_section_is_that_of_the_file(write: Write) -> None:
    values = yaml.safe_load(DEFAULT.read_text(encoding="utf-8"))
    for section in (TyposParams, LexicalParams, PairsParams, IngestParams):
        assert load(section, DEFAULT).model_dump() == values[section.NAME]
    named = ("track", "seed", "mix", "seeds")
    assert load_run(DEFAULT).model_dump() == {name: values[name] for name in named}
    assert read_values(DEFAULT) == values


@pytest.mark.thorough
def test_faults_elsewhere_do_not_stop_a_stage(write: Write) -> None:
    path = write(pairs={"positives_per_anchor": 0}, lexical=None, seeds=[])
    assert load(TyposParams, path) == load(TyposParams, DEFAULT)
    fault = r"params\.yaml:\n  pairs\.positives_per_anchor = 0: .* equal to 1"
    with pytest.raises(ParamsError, match=fault):
        load(PairsParams, path)
    with pytest.raises(ParamsError, match=r"lexical: missing; params\.yaml holds every parameter"):
        load(LexicalParams, path)
    with pytest.raises(ParamsError, match=r"seeds = \[\]: .* at least 1"):
        load_run(path)


def test_what_stands_above_the_sections_must_be_there(write: Write) -> None:
    with pytest.raises(ParamsError, match=r"mix: missing; .* put it back"):
        load_run(write(mix=None))


@pytest.mark.parametrize("text", ["", "a: [", "- 1", "words"])
def test_a_file_that_is_no_mapping(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.yaml").write_text(text)
    for read in (load_run, lambda path: load(TyposParams, path)):
        with pytest.raises(ParamsError, match=r"p\.yaml"):
            read(tmp_path / "p.yaml")


def test_the_files_of_ingest_are_those_in_its_folder(write: Write) -> None:
    """A reader of no inputs has no file."""
    taxonomy, inputs = load(IngestParams, DEFAULT).located
    assert taxonomy.files["aliases"] == "data/sample/aliases.csv"
    assert inputs.file == ["data/sample/inputs.csv"]
    inputs = {"reader": "none", "file": "", "columns": {}, "delimiter": "", "encoding": ""}
    assert load(IngestParams, write(ingest={"inputs": inputs})).located[1].file == []
