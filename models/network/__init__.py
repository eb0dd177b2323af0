"""The interfaces of an encoder and of a loss, their kinds by name, and a network as files."""
