"""A finished run to a registered model: package, register, gate, promote."""
