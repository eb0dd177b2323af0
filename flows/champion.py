"""The address of the champion; this module knows nothing of Prefect, whose import takes seconds."""

from __future__ import annotations

from pathlib import Path

import yaml


def champion(root: Path) -> str:
    """Return the address of the champion of `root`'s model."""
    params = yaml.safe_load((root / "params.yaml").read_text(encoding="utf-8"))
    return f"models:/{params['register']['name']}@champion"
