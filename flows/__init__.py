"""Prefect flows and the command `rolecall`. They know the names of stages, not what stages do."""
