"""The stages `code` and `similarity_code`: what counts as a change of what training does."""

import hashlib
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from params_of import write_params

from models.network.kinds import kinds
from tasks.papers.similarity import similarity_code
from tasks.pipeline import training_code_hash as code
from tasks.pipeline.training_code_hash import ROOT, code_hash, code_of, import_closure

Write = Callable[[str, str], Path]
SOURCE = '''"""A module."""

from typing import NamedTuple

SIGN = "#"  # of a comment
"""What begins a comment."""


class Place(NamedTuple):
    """A place."""

    row: int
    """From 1."""


def said(place: Place) -> str:
    """Say where.

    Args:
        place: of anything.
    """
    # the row alone
    return f"# {place.row}" if place.row > 0 else \'\'\'nowhere

    at all  # really
    \'\'\'


class Empty: ...
'''
CODE = """from typing import NamedTuple
SIGN = "#"
class Place(NamedTuple):
    row: int
def said(place: Place) -> str:
    return f"# {place.row}" if place.row > 0 else \'\'\'nowhere

    at all  # really
    \'\'\'
class Empty: ..."""


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write a module of a toy project by its path."""
    monkeypatch.setattr(code, "ROOT", tmp_path)

    def written(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return written


def test_golden_hash(write: Write) -> None:
    """It is that of the lines that are left, cut from the source: the same for any Python."""
    expected = hashlib.sha256(CODE.encode()).hexdigest()[:20]
    assert code_hash(write("a.py", SOURCE)) == code_hash(write("b.py", CODE)) == expected


def replaced(old: str, new: str) -> str:
    assert SOURCE.count(old) == 1
    return SOURCE.replace(old, new)


SAME = [
    "# SPDX\n" + SOURCE,
    replaced('"""A module."""', '"""Another\n\n    one.\n"""'),
    replaced('    """A place."""\n\n', ""),
    replaced('    """From 1."""\n', '    """From 0,\n    in C."""\n'),
    replaced("        place: of anything.\n", "        place: of something.\n"),
    replaced("    # the row alone\n", ""),
    replaced("# of a comment", "# … and of this one 🎉"),
    replaced("\n\n\nclass Place", "\n\nclass Place"),
    SOURCE.replace("\n", "\r\n"),
]
OTHER = [
    replaced('SIGN = "#"', 'SIGN = "##"'),
    replaced('f"# {', 'f"#  {'),
    replaced("place.row > 0", "place.row > 1"),
    replaced("nowhere\n\n", "nowhere\n"),
    replaced("  # really", ""),
    replaced("    return f", "    print()\n    return f"),
    replaced("class Empty: ...", "class Full: ..."),
    replaced('"""A module."""', 'NAME = """A module."""'),
]


@pytest.mark.parametrize("text", [*SAME, *OTHER])
def test_comments_docstrings_and_empty_lines_alone_do_not_count(write: Write, text: str) -> None:
    """A sign of comments within a string counts, and an empty line within one."""
    same = code_hash(write("a.py", text)) == code_hash(write("b.py", SOURCE))
    assert same == (text in SAME)


def test_lines_are_those_of_python(write: Write) -> None:
    """Some characters end a line for `str.splitlines` and none of the source."""
    text = 'SEPARATORS = "\u2028\x0c\x85"\n\n\ndef f() -> int:\n    """One."""\n    return 1\n'
    assert code_hash(write("a.py", text)) == code_hash(
        write("b.py", text.replace('    """One."""\n', ""))
    )


def test_a_closure_is_what_is_imported_at_run_time(write: Write) -> None:
    """Whole modules and names of modules, within functions too; not for types, not of others."""
    imports = """
    from __future__ import annotations
    import numpy
    import models.plain
    from models.text import titles
    from models.text.units import Unit, a_name
    from typing import TYPE_CHECKING
    if TYPE_CHECKING:
        from models import types_only
        import models.types_too
    def f():
        from tasks.late import late
    """
    write("tasks/first.py", "\n".join(line[4:] for line in imports.splitlines()))
    for name in ("plain", "types_only", "types_too", "deep", "text/titles", "text/units"):
        write(f"models/{name}.py", "")
    write("models/text/units.py", "import models.deep\nimport tasks.first\n")
    write("models/text/__init__.py", '"""Text."""\n')
    late = write("tasks/late.py", "")
    root = late.parents[1]
    closure = {path.relative_to(root).as_posix() for path in import_closure(["tasks.first"])}
    read = ("plain", "deep", "text/__init__", "text/titles", "text/units")
    assert closure == {"tasks/first.py", "tasks/late.py", *(f"models/{name}.py" for name in read)}


def listed_kinds(listed: dict[str, str], package: str) -> set[str]:
    files = {f"models/{package}/{kind}.py": kind for kind in kinds(package)}
    return {kind for file, kind in files.items() if file in listed}


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the code of this repository, whose files a test may change."""
    for package in ("tasks", "models"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    monkeypatch.setattr(code, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.thorough
def test_what_changes_the_code_of_training(copied: Path) -> None:
    """A docstring's words and a new kind do not, a statement does, and in its module alone."""

    def both() -> list[dict[str, str]]:
        stages = ("tasks.pipeline.train", "tasks.papers.similarity.similarity_train")
        return [code_of(stage, "ngram_bag", "margin") for stage in stages]

    before = both()
    assert before == [{file: code_hash(ROOT / file) for file in listed} for listed in before]
    assert "models/text/titles.py" in before[1]
    for module in (copied / name for name in {**before[0], **before[1]}):
        text = module.read_text(encoding="utf-8").replace('"""', '"""Once more: ', 1)
        module.write_text(f"{text}# the end\n", encoding="utf-8")
    (copied / "models/losses/newest.py").write_text("SETTINGS = LOSS = None\n")
    (copied / "models/encoders/newest.py").write_text("ENCODER = None\n")
    assert both() == before

    for module, stages in (("models/text/titles.py", {1}), ("models/training/loop.py", {0, 1})):
        module_text = (copied / module).read_text(encoding="utf-8")
        (copied / module).write_text(f"{module_text}MORE = 1\n", encoding="utf-8")
        pairs = zip(both(), before, strict=True)
        changed = [{file for file in now if now[file] != then[file]} for now, then in pairs]
        assert changed == [{module} if stage in stages else set() for stage in (0, 1)]
        (copied / module).write_text(module_text, encoding="utf-8")


@pytest.mark.thorough
def test_the_stage_code_reads_the_kinds_of_train(here: Path) -> None:
    write_params(train={"encoder": {"kind": "convolution"}, "loss": {"kind": "margin"}})
    code.main()
    listed = json.loads(Path("data/training_code_hash/train.json").read_text())
    assert listed == code_of("tasks.pipeline.train", "convolution", "margin")
    assert listed_kinds(listed, "encoders") == {"convolution"}
    assert listed_kinds(listed, "losses") == {"margin"}
    assert {"tasks/pipeline/train.py", "models/training/loop.py"} <= set(listed)
    assert not any(file.endswith("ngram_matcher.py") for file in listed)


@pytest.mark.thorough
def test_the_stage_similarity_code_reads_one_system(here: Path, monkeypatch) -> None:
    chosen = {"words": ("word_average", "regression"), "characters": ("char_lstm", "margin")}
    systems = {
        name: {"encoder": {"kind": encoder}, "loss": {"kind": loss}}
        for name, (encoder, loss) in chosen.items()
    }
    write_params(similarity={"systems": systems})
    for name, (encoder, loss) in chosen.items():
        monkeypatch.setattr(sys, "argv", ["", "--name", name])
        similarity_code.main()
        listed = json.loads(Path(f"data/similarity_code/{name}.json").read_text())
        assert listed_kinds(listed, "encoders") == {encoder}
        assert listed_kinds(listed, "losses") == {loss}
        assert "tasks/papers/similarity/similarity_train.py" in listed
