"""Titles and pairs a second, and peak memory, beside the obvious way to do it."""
