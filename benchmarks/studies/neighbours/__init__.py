"""Neighbours of n-grams and titles: Tables 8 to 10 of Wieting et al. 2016."""
