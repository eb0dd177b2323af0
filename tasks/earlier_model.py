"""The registered version that `train.compatible_with` names, as a folder that training can read.

A version never changes, so its address alone says what a training depended on. An alias
(`models:/NAME@champion`) moves, which DVC would not notice: it is refused, with the version that it
means now.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tasks.params import ParamsError
from tasks.tracking import registry


@contextmanager
def earlier_model(address: str, root: Path) -> Iterator[Path | None]:
    """The artefact folder of `models:/NAME/VERSION`, fetched for the time; None for no address.

    Raises:
        ParamsError: the address is an alias, or the registry of `root` has no such version.
    """
    if not address:
        yield None
        return
    from mlflow.exceptions import MlflowException

    with registry(root) as client, tempfile.TemporaryDirectory() as temporary:
        import mlflow

        name, _, alias = address.removeprefix("models:/").partition("@")
        try:
            if alias:
                version = client.get_model_version_by_alias(name, alias).version
                raise ParamsError(
                    f"train.compatible_with = {address}: an alias moves, and the same parameters "
                    f"would train another model; write models:/{name}/{version}, its version now"
                )
            model = mlflow.artifacts.download_artifacts(address, dst_path=temporary)
        except MlflowException as error:
            raise ParamsError(
                f"train.compatible_with = {address}: not in the registry ({error.message}); "
                "`python -m tasks.tracking` prints where it looks"
            ) from None
        yield next(Path(model).rglob("featurizer.json")).parent
