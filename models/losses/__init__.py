"""One loss a file, named as its kind in `params.yaml`; see `models/network/loss.py`."""
