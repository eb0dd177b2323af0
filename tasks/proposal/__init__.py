"""A profile for files that nobody has described: looked at, guessed, and written to be changed."""
