"""A model on the disk by its address: a package of an earlier format is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.normalizer.package_format import FORMAT
from tasks.io.frames import write_json
from tasks.release.registry.loading import fetched


@pytest.mark.parametrize("number", [FORMAT, FORMAT - 1])
def test_the_format_of_a_folder_is_checked(tmp_path: Path, number: int) -> None:
    (tmp_path / "MLmodel").touch()
    write_json({"format": number}, tmp_path / "artifacts/normalizer/settings.json")
    if number == FORMAT:
        with fetched(str(tmp_path), tmp_path) as (address, folder):
            assert (address, folder) == (str(tmp_path), tmp_path)
        return
    message = f"^{tmp_path} has format {number}, not {FORMAT}; .*run `rolecall retrain`"
    with pytest.raises(ValueError, match=message), fetched(str(tmp_path), tmp_path):
        pass
