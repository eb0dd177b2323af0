"""Commands as child processes that never outlive their parent: stages, and Prefect's server."""
