"""The lexical baselines on every test."""
