"""The lexical baselines on the publishers' whole files, without our splits."""
