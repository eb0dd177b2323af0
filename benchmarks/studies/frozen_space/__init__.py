"""Training into the space of a reference model: Tables 1 and 2 of Bhat et al. 2019."""
