"""What the stages typos, synonyms and extra_words are made of."""
