"""Titles among superfluous words, and the Extra Words test."""
