"""Prefect flows: retrain, reproduce. They know the names of stages and nothing of what they do."""
