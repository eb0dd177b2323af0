"""From an encoded title to ranked occupations: index, scores, exemplars, confidence, search."""
