"""The stages of `dvc.yaml`, a package each: `params.py` is its section, `stage.py` runs it."""
