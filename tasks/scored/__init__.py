"""The second track: scored pairs, paraphrases, and the systems trained on them."""
