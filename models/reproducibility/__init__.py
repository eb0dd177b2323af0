"""Seeds derived by name, files that appear whole or not at all, progress lines."""
