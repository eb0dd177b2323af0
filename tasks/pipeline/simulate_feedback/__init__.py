"""Predictions judged by the inputs' labels, as feedback."""
