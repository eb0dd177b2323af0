"""Systems, rankings and tables that the stages lexical, evaluate and table3 share."""
