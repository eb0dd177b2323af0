"""Networks of the studies: how they are trained, and on which pairs."""
