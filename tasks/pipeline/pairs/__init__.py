"""Training pairs of a mix."""
