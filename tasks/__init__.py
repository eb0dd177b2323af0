"""One module per stage: a pure function over frames, and a small main() that touches files."""
