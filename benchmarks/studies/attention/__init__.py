"""What attention adds to a Siamese LSTM: Tables I and II of Bao et al. 2018."""
