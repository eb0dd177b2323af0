"""Reference pages name everything that the code declares, and links lead to pages of the site."""

import inspect
import re
import warnings
from pathlib import Path

import pytest
import yaml
from site_pages import answer, cli, columns_of, parameters, read_parameters, relinked, stages

from flows.cli import app
from models.serving.answer import PARAMS, columns
from tasks.io import schemas

ROOT = Path(__file__).parents[2]


def test_every_column_of_an_answer_is_listed() -> None:
    text = answer()
    for name, column in columns().items():
        assert f"| `{name}` | " in text
        assert column.meaning in text
    assert "| list of numbers |" in text and "| text, may be null |" in text


def test_every_command_is_listed_with_its_options() -> None:
    text = cli()
    for command in app.registered_commands:
        name = command.name or command.callback.__name__  # type: ignore[union-attr]
        assert f"\n## {name.replace('_', '-')}\n" in text
    assert "--min-confidence" in text
    assert "\b" not in text


def test_every_stage_is_listed_and_every_table_that_it_writes_is_in_the_design() -> None:
    text, design = stages(), (ROOT / "docs/design/files.md").read_text(encoding="utf-8")
    for name, stage in yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"].items():
        assert f"| `{name}` | {stage.get('do', stage)['desc']} |" in text
        for output in stage.get("do", stage)["outs"]:
            short = output.replace("${item.k}", "K").replace("${item.seed}", "SEED")
            short = short.replace("${key}", "K" if name == "pairs" else "SYSTEM")
            if short.endswith(".parquet"):
                assert f"`{short}`" in design, short
    assert "`data/report/metrics.json`" in text


def test_the_design_names_the_schema_of_every_frame() -> None:
    """On the site its name becomes its columns; neighbours of one type share it."""
    design = (ROOT / "docs/design/files.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\| `([A-Z_]+)`", design))
    assert named <= vars(schemas).keys()
    assert len(named) > 15
    assert columns_of("PRIOR") == "`occupation_id: String, chance: Float64, bias: Float32`"
    assert columns_of("SEED") == "`SEED`"


def test_every_parameter_is_listed_with_default_and_type() -> None:
    text = parameters()
    for name in yaml.safe_load((ROOT / "params.yaml").read_text()):
        assert f"\n## {name}\n" in text or f"| `{name}` |" in text
    assert "| `max_steps` | `400` | whole number, at least 0 |" in text
    assert "| `ngram_bag.activation` | `tanh` | one of `tanh`, `linear` |" in text


def test_a_comment_goes_on_below_its_line() -> None:
    text = "a: 1  # one\nb:    # section\n  c: [1, 2]  # two,\n             # three\n  d: x\n"
    assert [*read_parameters(text)] == [
        (("a",), "1", "one"),
        (("b",), "", "section"),
        (("b", "c"), "[1, 2]", "two, three"),
        (("b", "d"), "x", ""),
    ]


def test_every_parameter_of_predict_is_in_the_guide_and_in_the_reference() -> None:
    guide, reference = (
        (ROOT / "docs" / name).read_text(encoding="utf-8")
        for name in ("guides/rest.md", "reference/python.md")
    )
    for name in PARAMS:
        assert f"\n| `{name}` | " in guide and f"\n| `{name}` | " in reference
        assert f'"{name}": ' in guide or name == "language"


@pytest.mark.parametrize("name", ["embed", "similar", "explain"])
def test_the_reference_has_the_methods_of_the_served_model(name: str) -> None:
    with warnings.catch_warnings():  # MLflow warns about its own type hints
        warnings.simplefilter("ignore")
        from models.serving.pyfunc import ServedNormalizer
    method = getattr(ServedNormalizer, name)
    own = [p for p in inspect.signature(method).parameters.values() if p.name != "self"]
    signature = str(inspect.signature(method).replace(parameters=own)).replace("'", "")
    text = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8").replace('""', "")
    short = signature.replace("pd.", "pandas.").replace("np.", "numpy.")
    assert f"```python\n{name}{short}\n```" in text
    assert (inspect.getdoc(method) or "").partition("\n")[0] in text


def test_consumers_are_told_how_to_turn_telemetry_off() -> None:
    pages = ("docs/quickstart.md", "docs/guides/rest.md")
    for file in (*(ROOT / page for page in pages), *(ROOT / "examples").glob("*.py")):
        assert "MLFLOW_DISABLE_TELEMETRY" in file.read_text(encoding="utf-8"), file


@pytest.mark.parametrize(
    ("source", "page", "link", "expected"),
    [
        ("README.md", "index.md", "[a](docs/guides/b.md#c)", "[a](guides/b.md#c)"),
        ("README.md", "index.md", "![a](docs/way.svg)", "![a](way.svg)"),
        ("README.md", "index.md", "[a](CONTRIBUTING.md)", "[a](contributing.md)"),
        ("README.md", "index.md", "the [licence](LICENSE)", "the licence"),
        ("docs/guides/b.md", "guides/b.md", "[a](../../README.md#x)", "[a](../index.md#x)"),
        ("docs/guides/b.md", "guides/b.md", "[a](../../params.yaml)", "a"),
        ("docs/guides/b.md", "guides/b.md", "[a](c.md)", "[a](c.md)"),
        ("docs/guides/b.md", "guides/b.md", "[a](../../nowhere)", "[a](../../nowhere)"),
        ("docs/guides/b.md", "guides/b.md", "[a](#c) [b](https://e.org/x)", None),
    ],
)
def test_a_link_leads_to_the_page(source: str, page: str, link: str, expected: str | None) -> None:
    assert relinked(link, source, page) == (expected or link)
