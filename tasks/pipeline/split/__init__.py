"""Aliases and labelled inputs into training, validation, gate and tests."""
