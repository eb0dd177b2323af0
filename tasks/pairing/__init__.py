"""What the stages feedback and pairs are made of."""
