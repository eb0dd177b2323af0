"""Vectors of a sentence encoder, for networks that are distilled from it."""
