"""The files that a consumer loads, and the one Python file that serves them."""
