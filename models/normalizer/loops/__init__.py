"""Loops over the characters of many titles, compiled by `models/normalizer/text_kernels.py`."""
