"""One encoder a file, named as its kind in `params.yaml`; see `models/network/encoder.py`."""
