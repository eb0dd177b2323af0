"""Prefect flows: retrain. They know the names of stages and nothing of what happens in them."""
