"""Metrics from scores: ranks, correlations, intervals."""
