"""A finished run to a registered model: export, register, gate, promote."""
