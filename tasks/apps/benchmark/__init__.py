"""A registered model on a published benchmark."""
