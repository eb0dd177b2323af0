"""ESCO in many languages: MELO, a job board, labelled inputs, and what a language costs."""
