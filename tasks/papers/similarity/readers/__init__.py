"""The publishers' files of scored pairs and paraphrases, a module each."""
