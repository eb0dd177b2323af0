"""The gain of attention in a Siamese LSTM: Table I of Bao et al. 2018."""
