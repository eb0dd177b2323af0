"""Titles and inputs that each rule of the sources takes or leaves."""
