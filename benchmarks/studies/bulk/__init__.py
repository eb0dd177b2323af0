"""Files of titles through the registered model: how fast, in how much memory, and what it loses."""
