"""`rolecall schedule`: the child processes, and what is deployed on the server."""
