"""Seconds and peak memory of making the data of mixes 2 and 3."""
