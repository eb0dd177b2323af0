"""O*NET's reported titles, taken out of its aliases and asked."""
