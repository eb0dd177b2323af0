"""What a sentence encoder says of the training titles, for networks that learn from it."""
