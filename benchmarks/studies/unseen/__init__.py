"""Titles of occupations that nothing was learned from, ranked by similarity alone."""
