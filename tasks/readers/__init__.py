"""Readers of outside files: publishers' formats in, occupations, titles and raw inputs out."""
