"""Imports MLflow once, before a test does: its own import warns, and here warnings are errors."""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import mlflow.pyfunc

__all__ = ["mlflow"]
