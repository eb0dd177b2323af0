"""The commands of `rolecall`, a module each; `flows/cli.py` names them and their options."""
