"""Exemplars, occupation frequencies, and confidence."""
