"""Files of titles through the registered model: speed, memory and the loss of two-stage search."""
