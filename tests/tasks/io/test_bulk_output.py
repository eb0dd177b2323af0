"""The files of an output by its name."""

from pathlib import Path

import pytest

from tasks.io.bulk_output import kind_of, manifest_of, parts_of, refused_of


@pytest.mark.parametrize(
    ("name", "kind", "manifest", "refused"),
    [
        ("a", "", "a/manifest.json", "a/refused.parquet"),
        ("a.2026-11", "", "a.2026-11/manifest.json", "a.2026-11/refused.parquet"),
        ("a.csv", ".csv", "a.csv.manifest.json", "a.refused.csv"),
        ("a.b.XLSX", ".xlsx", "a.b.XLSX.manifest.json", "a.b.refused.XLSX"),
        ("a.parquet", ".parquet", "a.parquet.manifest.json", "a.refused.parquet"),
        ("old.csv", "", "old.csv/manifest.json", "old.csv/refused.parquet"),
    ],
)
def test_names(tmp_path: Path, name: str, kind: str, manifest: str, refused: str) -> None:
    """`old.csv` is a folder, as an earlier version made it for a file of that name."""
    (tmp_path / "old.csv").mkdir()
    place = tmp_path / name
    assert kind_of(place) == kind
    assert (manifest_of(place), refused_of(place)) == (tmp_path / manifest, tmp_path / refused)
    names = {"parts": [{"name": "part-0"}]}
    assert parts_of(place, names) == [place if kind else place / "part-0"]
