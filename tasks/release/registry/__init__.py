"""Versions of the registered model: register, promote, roll back, list."""
