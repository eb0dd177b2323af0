"""Imports MLflow once, before a test does: its own import warns, and here warnings are errors."""

import warnings

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import mlflow.pyfunc

__all__ = ["WARNINGS", "mlflow"]
WARNINGS = [
    pytest.mark.filterwarnings(f"ignore::{warning}")
    for warning in (
        "UserWarning:mlflow",
        "FutureWarning:mlflow",
        "DeprecationWarning",
        "ResourceWarning",
    )
]
"""Of MLflow's and torch's own code, while it runs: nothing in a test can answer them."""
