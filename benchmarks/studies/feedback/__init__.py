"""What makes feedback hurt, and which training on it does not."""
