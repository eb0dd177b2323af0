"""The code that serves a model: whole, alone, in two versions, and every file in the checksums."""

import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import tiny_run
from mlflow_import import WARNINGS, mlflow

from models.serving.package import CHECKSUMS, read_normalizer
from tasks.io.schemas import EXEMPLARS, OVERRIDES
from tasks.io.section import load
from tasks.pipeline.calibrate.prior import CalibrateParams
from tasks.release.model_package import runtime
from tasks.release.model_package.folder import build_artifact
from tasks.release.model_package.patch import exemplify, replace_overrides
from tasks.release.model_package.run_files import RunFiles
from tasks.release.model_package.runtime import runtime_name, write_checksums
from tasks.release.registry.register import ARTIFACT, as_logged

pytestmark = [pytest.mark.thorough, *WARNINGS]

FOREIGN = """
import sys
sys.path.insert(0, ".")
import models, tasks  # the consumer's own
assert models.MINE and tasks.MINE
"""
ALONE = """
from pathlib import Path
sys.path.insert(0, "one/code")
from importlib import import_module
package = import_module(f"{sys.argv[1]}.serving.package")
normalizer = package.read_normalizer(Path("one/artifacts/normalizer"))
print(normalizer.predict([" Ward  SISTER"])[0].matched_title, normalizer.network(["nurse"]).shape)
"""
BOTH = """
import mlflow, pandas
titles = pandas.DataFrame({"raw_title": [" ", "coder"]})
loaded = [mlflow.pyfunc.load_model(name) for name in ("one", "two", "one")]
print(*[model.predict(titles)["reason"].tolist() for model in loaded])
print(*[type(model.unwrap_python_model()).__module__.split(".")[0] for model in loaded])
"""
OURS = 'print({"flows", "models.serving", "models.text"} & set(sys.modules))\n'
HEAVY = 'print({"torch", "mlflow", "pandas", "polars"} & set(sys.modules))\n'


def printed(folder: Path, script: str, *words: str) -> str:
    """Run a script in a folder, without this repository; return what it prints."""
    command = [sys.executable, "-I", "-W", "ignore", "-c", FOREIGN + script + OURS, *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Models `one` and `two`, whose code names an empty title otherwise, beside foreign packages.

    Return their folder, and the names of their code. `shipped` is `one` before anybody loads it.
    """
    folder, names = tmp_path_factory.mktemp("saved"), []
    sources = RunFiles.below(tiny_run.make_run(folder / "run"))
    shutil.copytree(tiny_run.ROOT / "models", folder / "later/models")
    clean = folder / "later/models/serving/clean.py"
    clean.write_text(clean.read_text(encoding="utf-8").replace('"empty"', '"nothing"'))
    for name, root in (("one", tiny_run.ROOT), ("two", folder / "later")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(runtime, "ROOT", root)
            patch.setattr(sys, "path", [*sys.path])
            build_artifact(sources, folder / f"made_{name}" / ARTIFACT)
            made = as_logged(folder / f"made_{name}", sources.register.top_k)
            mlflow.pyfunc.save_model(folder / name, **made)
            names.append(runtime_name())
    shutil.copytree(folder / "one", folder / "shipped")
    for name in ("models", "tasks"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("MINE = True\n")
    return folder, names


@pytest.fixture
def model(saved: tuple[Path, list[str]], tmp_path: Path) -> Path:
    """A copy of model `one`."""
    return Path(shutil.copytree(saved[0] / "shipped", tmp_path / "model"))


def flipped(file: Path) -> bytes:
    """Flip a bit in the middle of a file; return the content that it had."""
    content = file.read_bytes()
    middle = len(content) // 2
    file.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    return content


def test_a_package_is_read_without_this_repository_and_without_mlflow(saved) -> None:
    output = printed(saved[0], ALONE + HEAVY, saved[1][0])
    assert output == "Ward sister (1, 8)\nset()\nset()\n"


def test_two_versions_of_the_code_live_in_one_process(saved: tuple[Path, list[str]]) -> None:
    """Beside packages of a consumer that have our names."""
    folder, (one, two) = saved
    answers = "['empty', 'uncalibrated'] ['nothing', 'uncalibrated'] ['empty', 'uncalibrated']"
    assert printed(folder, BOTH) == f"{answers}\n{one} {two} {one}\nset()\n" and one != two


def test_the_code_is_whole_and_nothing_else_is_shipped(saved: tuple[Path, list[str]]) -> None:
    """No compiled file, and no name of this repository in an import."""
    code = saved[0] / "shipped/code"
    files = {path.relative_to(code) for path in code.rglob("*") if path.is_file()}
    ours = {f"{kind}/{file.name}" for kind in runtime.FOLDERS for file in _modules(kind)}
    assert files == {Path(saved[1][0], name) for name in ours | {"__init__.py"}}
    for file in files:
        lines = (code / file).read_text(encoding="utf-8").splitlines()
        assert not [line for line in lines if "from models" in line or "import models" in line]


def _modules(kind: str) -> list[Path]:
    return [*(tiny_run.ROOT / "models" / kind).glob("*.py")]


def test_every_file_counts(model: Path) -> None:
    """Of the package, and of the code: a flipped bit is found, and the file named."""
    package = model / "artifacts/normalizer"
    files = [*package.iterdir(), model / "serving.py", *(model / "code").rglob("*.py")]
    assert len(files) == 17 + 2 + sum(len(_modules(kind)) for kind in runtime.FOLDERS)
    for file in files:
        content = flipped(file)
        with pytest.raises(ValueError, match=file.name):
            read_normalizer(package, with_code=True)
        file.write_bytes(content)
    read_normalizer(package, with_code=True)


def test_a_patched_package_has_checksums_of_its_own(saved: tuple[Path, list[str]]) -> None:
    """Written anew for equal files, they are equal."""
    package = saved[0] / "made_two/normalizer"
    write_checksums(package)
    before = (package / CHECKSUMS).read_text()
    write_checksums(package)
    assert (package / CHECKSUMS).read_text() == before
    said = {"normalized": ["owl"], "occupation_id": ["nurse"], "correct": [True]}
    assert replace_overrides(package, pl.DataFrame(said, dict(OVERRIDES)))
    learned = pl.DataFrame([("night owl", "nurse", 1.0, "review")], dict(EXEMPLARS), orient="row")
    params = load(CalibrateParams, saved[0] / "run/params.yaml")
    exemplify(package, pl.Series(["night owl"]), learned, params)
    assert read_normalizer(package).exemplars["title"] == ["night owl"]
    changed = set((package / CHECKSUMS).read_text().splitlines()) - set(before.splitlines())
    names = {line.partition("  ")[2] for line in changed}
    assert names == {"overrides.parquet", "exemplars.parquet", "index.npy"}
