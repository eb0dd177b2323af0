"""Misspelt variants of the training titles, and the Typos test."""
