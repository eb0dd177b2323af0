"""Applications of a registered model."""
