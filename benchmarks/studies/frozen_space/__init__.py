"""Training into the space of an earlier model: Tables 1 and 2 of Bhat et al. 2019."""
