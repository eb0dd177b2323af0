"""The commands of `rolecall` by topic; `flows/cli.py` lists them."""
