"""Reference pages name everything that the code declares."""

from __future__ import annotations

from pathlib import Path

import yaml
from reference_answer import answer_page
from reference_cli import cli_page
from reference_parameters import parameters_page, read
from reference_python import python_page
from reference_stages import stages_page
from reference_tables import entries, sections, table

from flows.cli import app
from models.normalizer.answers.columns import columns
from models.normalizer.predict_params import PARAMS

ROOT = Path(__file__).parents[2]


def test_every_column_of_an_answer_is_listed() -> None:
    page = answer_page(ROOT)
    for name, column in columns().items():
        assert f"| `{name}` | " in page
        assert column.meaning in page


def test_every_stage_is_listed_with_its_outputs() -> None:
    page = stages_page(ROOT)
    for name, stage in yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"].items():
        assert f"| `{name}` | {stage.get('do', stage)['desc']} |" in page
    assert "`data/report/metrics.json`" in page


def test_every_command_is_listed_with_its_options() -> None:
    page = cli_page(ROOT)
    for command in app.registered_commands:
        name = command.name or command.callback.__name__  # type: ignore[union-attr]
        assert f"\n## {name.replace('_', '-')}\n" in page
    assert "`--min-confidence`" in page
    assert "\b" not in page


def test_every_parameter_of_predict_is_in_the_rest_guide() -> None:
    guide = (ROOT / "docs/guides/rest.md").read_text(encoding="utf-8")
    for name in PARAMS:
        assert f"\n| `{name}` | " in guide
        assert f'"{name}": ' in guide or name == "language"


def test_consumers_are_told_how_to_turn_telemetry_off() -> None:
    pages = ("docs/quickstart.md", "docs/guides/rest.md")
    for file in (*(ROOT / page for page in pages), *(ROOT / "examples").glob("*.py")):
        assert "MLFLOW_DISABLE_TELEMETRY" in file.read_text(encoding="utf-8"), file


def test_every_parameter_is_listed_with_default_and_type() -> None:
    page = parameters_page(ROOT)
    for name in yaml.safe_load((ROOT / "params.yaml").read_text()):
        assert f"\n## {name}\n" in page or f"| `{name}` |" in page
    assert "| `max_steps` | `400` | whole number, at least 0 |" in page
    assert "| `ngram_bag.activation` | `tanh` | one of `tanh`, `linear` |" in page


def test_a_comment_goes_on_below_its_line() -> None:
    text = "a: 1  # one\nb:    # section\n  c: [1, 2]  # two,\n             # three\n  d: x\n"
    assert [(p.path, p.value, p.comment) for p in read(text)] == [
        (("a",), "1", "one"),
        (("b",), None, "section"),
        (("b", "c"), "[1, 2]", "two, three"),
        (("b", "d"), "x", ""),
    ]


def test_methods_of_the_served_model_are_listed() -> None:
    page = python_page(ROOT)
    assert all(f"\n### {name}\n" in page for name in ("embed", "similar", "explain"))
    assert "| `min_confidence` |" in page


def test_a_docstring_is_cut_at_its_headings() -> None:
    def documented() -> None:
        """Do it.

        Args:
            a: first,
                and more.
            b: second.

        Returns:
            nothing.
        """

    cut = sections(documented)
    assert (cut[""], cut["Returns"]) == ("Do it.", "nothing.")
    assert entries(cut["Args"]) == [("a", "first, and more."), ("b", "second.")]


def test_a_bar_in_a_cell_is_escaped() -> None:
    assert table(("a",), [("x | y",)]) == "| a |\n| --- |\n| x \\| y |"
