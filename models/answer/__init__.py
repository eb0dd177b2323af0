"""What a title finds: index, occupation scores, evidence, confidence, search."""
