"""Frames at the edge: schemas, whole files, queries, tables, and how a command ends."""
