"""Noise and superfluous words, which several augmentation stages draw."""
