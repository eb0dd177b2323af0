"""Speed, size and reference figures, outside the DVC graph."""
