"""What the stages lexical, evaluate and table3 are made of."""
