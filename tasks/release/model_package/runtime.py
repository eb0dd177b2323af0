"""The code that serves a model: `models/serving` and `models/text` as one package of its own.

The package's name holds the hash of its content (`rolecall_runtime_ab12cd…`), so that two versions
live in one process, and no package of a consumer has its name. MLflow copies it into the model
(`code_paths`), together with a short file that names it.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from models.reproducibility import write_bytes
from models.serving.package import CHECKSUMS, OUTSIDE, sha256

ROOT = Path(__file__).parents[3]
FOLDERS = ("serving", "text")
IMPORT = re.compile(rf"^(\s*from )models\.({'|'.join(FOLDERS)})\b", re.MULTILINE)
LOADER = """import sys
from pathlib import Path

import mlflow

if (Path(__file__).parent / "{name}").is_dir():  # MLflow has not copied it to `code` yet
    sys.path.insert(0, str(Path(__file__).parent))
from {name}.serving.pyfunc import ServedNormalizer

mlflow.models.set_model(ServedNormalizer())
"""


def sources() -> list[Path]:
    """Return the files of the runtime, as they stand in this repository."""
    return [file for name in FOLDERS for file in sorted((ROOT / "models" / name).glob("*.py"))]


def runtime_name() -> str:
    """Return the package's name."""
    texts = (file.read_bytes() for file in sources())
    return f"rolecall_runtime_{hashlib.sha256(bytes(1).join(texts)).hexdigest()[:12]}"


def write_runtime(folder: Path) -> tuple[Path, Path]:
    """Write the package below `folder`, and beside it the file that MLflow loads; return both."""
    name = runtime_name()
    package, loader = folder / name, folder / "serving.py"
    write_bytes(b'"""The code that serves a model of Rolecall."""\n', package / "__init__.py")
    for file in sources():
        text = IMPORT.sub(rf"\1{name}.\2", file.read_text(encoding="utf-8"))
        write_bytes(text.encode(), package / file.relative_to(ROOT / "models"))
    write_bytes(LOADER.format(name=name).encode(), loader)
    return package, loader


def write_checksums(folder: Path, code: tuple[Path, Path] | None = None) -> None:
    """Write `SHA256SUMS` of a package and of its `code`, as `write_runtime` returned it."""
    files = {file.name: file for file in folder.iterdir() if file.name != CHECKSUMS}
    if code:
        package, loader = code
        files[f"{OUTSIDE}{loader.name}"] = loader
        for file in package.rglob("*.py"):
            files[f"{OUTSIDE}code/{file.relative_to(package.parent).as_posix()}"] = file
    lines = (f"{sha256(file)}  {name}\n" for name, file in sorted(files.items()))
    write_bytes("".join(lines).encode(), folder / CHECKSUMS)
