"""The taxonomy's hierarchy in the embedding: a loss with levels, and how far off mistakes are."""
