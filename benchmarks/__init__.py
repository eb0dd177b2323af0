"""Studies of the product: what is measured, how it is kept as tidy CSV, and pages of it."""
