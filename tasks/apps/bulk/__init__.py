"""Files of raw titles of any size in, the same rows with their answers out."""
