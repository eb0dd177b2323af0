"""A profile inferred from files that nobody has described."""
