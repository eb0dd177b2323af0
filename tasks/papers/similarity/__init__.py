"""The similarity track: scored pairs, paraphrases, and the systems trained on them."""
