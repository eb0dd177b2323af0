"""Bags of n-grams beside other encoders: Tables 1 and 3 and Figure 1 of Wieting et al. 2016."""
