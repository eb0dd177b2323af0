"""Studies of the product: their measurements, the figures as tidy CSV, and the pages."""
