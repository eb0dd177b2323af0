"""Stage `reference_model`: the registered version that `train.compatible_with` names, as a folder.

Out: `data/reference_model/`, with the address alone if no version is named. A version never
changes, so DVC depends on its address. An alias moves unnoticed, so it is refused.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from models.reproducibility import write_bytes
from models.serving.package import CHECKSUMS, check_files
from tasks.io.command import run
from tasks.io.files import read_json, write_json
from tasks.io.frames import read_parquet
from tasks.io.section import ParamsError, load
from tasks.io.tracking import registry
from tasks.pipeline.train_params import TrainParams

FOLDER = Path("data/reference_model")


def reference_model(address: str, root: Path, out: Path) -> None:
    """Fetch the artifact folder of `models:/NAME/VERSION` to `out`; no address gives no model.

    ParamsError if it is an alias, no version of the registry of `root`, or altered.
    """
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    if address:
        _fetch(address, root, out)
    write_bytes(f"{address}\n".encode(), out / "address")


def _fetch(address: str, root: Path, out: Path) -> None:
    from safetensors.torch import load_file, save

    from models.network.quantization import unpacked

    where = f"train.compatible_with = {address}"
    with registry(root) as client, tempfile.TemporaryDirectory() as temporary:
        import mlflow

        name, _, alias = address.removeprefix("models:/").partition("@")
        try:
            if alias:
                version = client.get_model_version_by_alias(name, alias).version
                raise ParamsError(
                    f"{where}: an alias moves, and the same parameters would train another model; "
                    f"write models:/{name}/{version}, its version now"
                )
            model = mlflow.artifacts.download_artifacts(address, dst_path=temporary)
        except mlflow.MlflowException as error:
            fault = f"not in the registry ({error.message}); `rolecall models` says what there is"
            raise ParamsError(f"{where}: {fault}") from None
        package = next(Path(model).rglob("featurizer.json")).parent
        try:
            if (package / CHECKSUMS).is_file():  # earlier versions wrote none
                check_files(package)
        except ValueError as error:
            raise ParamsError(f"{where}: {error}") from None
        shutil.copytree(package, out, dirs_exist_ok=True)
        if (out / "vocabulary.parquet").is_file():  # earlier versions have it in `featurizer.json`
            _join_vocabulary(out)
        weights = unpacked(load_file(out / "weights.safetensors"))
        write_bytes(save(weights), out / "weights.safetensors")


def _join_vocabulary(folder: Path) -> None:
    """Write a package's featurizer as training reads it, with the units of its vocabularies."""
    values = read_json(folder / "featurizer.json")
    units = read_parquet(folder / "vocabulary.parquet")["unit"].to_list()
    for vocabulary in values["vocabularies"]:
        size = vocabulary.pop("size")
        vocabulary["known"], units = units[:size], units[size:]
    write_json(values, folder / "featurizer.json")


def main() -> None:
    """Run the stage in the working directory."""
    reference_model(load(TrainParams).compatible_with, Path.cwd(), FOLDER)


if __name__ == "__main__":
    run(main)
