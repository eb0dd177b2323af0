"""The champion's address."""

from __future__ import annotations

from pathlib import Path

from flows.champion import champion


def test_it_has_the_name_of_the_parameters(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text("register: {name: mine}\n")
    assert champion(tmp_path) == "models:/mine@champion"
