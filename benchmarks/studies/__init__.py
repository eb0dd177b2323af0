"""One folder a study; see `benchmarks/study.py`."""
