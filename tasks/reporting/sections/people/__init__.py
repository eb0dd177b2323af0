"""Sections on what people said of answers, and on who said it."""
