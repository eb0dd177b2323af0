"""The answer to a title: its columns, when the model abstains, and which words decided."""
