"""What inputs say beside the taxonomy: exemplars, how common occupations are, and confidence."""
