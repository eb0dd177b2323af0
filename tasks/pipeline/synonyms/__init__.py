"""Titles with a phrase replaced by a synonym, and the Composition test."""
