"""Table 3 of Neculoiu et al. 2016 on our data, what each source of pairs gains, and the page."""
