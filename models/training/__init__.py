"""From pairs of strings to a trained network."""
