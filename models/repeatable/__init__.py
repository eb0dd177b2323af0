"""What makes results repeatable: seeds derived by name, files that appear whole or not at all."""
