"""Table 3 of Neculoiu et al. 2016 on open data."""
