"""Table 3 of Neculoiu et al. 2016 on our data, and what each source of pairs gains."""
