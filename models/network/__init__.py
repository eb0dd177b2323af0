"""What an encoder and a loss are, their kinds by name, and a network as files."""
