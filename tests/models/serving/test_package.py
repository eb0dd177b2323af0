"""Checksums and format of a package: what was altered is named."""

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from models.serving.package import CHECKSUMS, FORMAT, check_files, check_format, sha256

CONTENT = {"weights.bin": bytes(range(256)) * 9, "empty.csv": b"", "names.txt": "ü\n".encode()}
CODE = "../../code/runtime/model.py"
CODE_CONTENT = b"print(1)\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package in a model's folder, with the code that serves it where MLflow puts that."""
    folder = tmp_path / "model" / "artifacts" / "normalizer"
    folder.mkdir(parents=True)
    code = (folder / CODE).resolve()
    code.parent.mkdir(parents=True)
    code.write_bytes(CODE_CONTENT)
    for name, content in CONTENT.items():
        (folder / name).write_bytes(content)
    files = {**CONTENT, CODE: CODE_CONTENT}
    lines = [f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in files]
    (folder / CHECKSUMS).write_text("".join(lines))
    return folder


def test_a_package_as_it_was_written_passes(package: Path) -> None:
    check_files(package)
    check_files(package, with_code=True)
    assert sha256(package / "empty.csv").startswith("e3b0c44298fc1c14")  # FIPS 180-4, of nothing


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="coreutils")
def test_the_file_is_one_for_sha256sum(package: Path) -> None:
    command = ["sha256sum", "--check", "--strict", "--quiet", CHECKSUMS]
    subprocess.run(command, cwd=package, check=True)


@pytest.mark.parametrize("name", [*CONTENT, CODE])
def test_an_altered_or_missing_file_is_named(package: Path, name: str) -> None:
    file = package / name
    file.write_bytes(file.read_bytes()[:-1] + b"!")
    for _ in range(2):
        with pytest.raises(ValueError, match=rf"{file.name} is not the file .* download the model"):
            check_files(package, with_code=True)
        file.unlink(missing_ok=True)


def test_a_file_that_was_added_to_the_code_is_named(package: Path) -> None:
    """But none that Python itself writes there."""
    compiled = (package / CODE).parent / "__pycache__/model.cpython-313.pyc"
    compiled.parent.mkdir()
    compiled.touch()
    check_files(package, with_code=True)
    added = package / "../../code/numpy.py"
    added.touch()
    check_files(package)
    with pytest.raises(ValueError, match=r"numpy\.py is not the file that was registered"):
        check_files(package, with_code=True)


def test_altered_checksums_are_refused(package: Path) -> None:
    """Whichever byte was altered: of a digest, of a name, or of what is between them."""
    sums = package / CHECKSUMS
    content = sums.read_bytes()
    for index in (0, 63, 64, 66, 70):
        sums.write_bytes(content[:index] + bytes([content[index] ^ 1]) + content[index + 1 :])
        with pytest.raises(ValueError, match=CHECKSUMS):
            check_files(package, with_code=True)


def test_a_package_without_checksums_is_refused(package: Path) -> None:
    (package / CHECKSUMS).unlink()
    with pytest.raises(ValueError, match=rf"{CHECKSUMS} is missing: .*`rolecall retrain`"):
        check_files(package)


EARLIER = r"trained by an earlier version: run `rolecall retrain`$"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"format": FORMAT - 1}, rf"^mine has format {FORMAT - 1}, not {FORMAT}; {EARLIER}"),
        ({"format": "old"}, EARLIER),
        ({}, rf"^mine has format unknown, not {FORMAT}; {EARLIER}"),
        ({"format": FORMAT + 1}, r"trained by a later version: update rolecall$"),
    ],
)
def test_other_formats_are_refused(settings: dict[str, object], message: str) -> None:
    check_format({"format": FORMAT}, "mine")
    with pytest.raises(ValueError, match=message):
        check_format(settings, "mine")
