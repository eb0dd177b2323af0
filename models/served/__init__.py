"""What a consumer's model says of raw titles: abstention, answer, explanation."""
