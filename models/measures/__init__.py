"""Figures from scores: ranks, correlations, intervals."""
