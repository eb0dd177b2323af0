"""A hash of the code behind a training."""
