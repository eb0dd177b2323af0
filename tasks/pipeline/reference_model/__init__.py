"""The registered model whose space is trained into."""
