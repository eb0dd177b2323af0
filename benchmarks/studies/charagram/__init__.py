"""Bags of n-grams beside other encoders: Tables 1, 3 and 5, Figure 1 of Wieting et al. 2016."""
