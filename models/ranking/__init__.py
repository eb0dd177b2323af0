"""From an encoded title to ranked occupations: index, scores, evidence, confidence, search."""
