"""Parts that several losses share: the choice of negatives, and a Bessel function."""
