"""What attention adds to a Siamese LSTM: Table I of Bao et al. 2018."""
