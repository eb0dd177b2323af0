"""Commands as processes that nobody leaves behind: stages, and Prefect's own server."""
