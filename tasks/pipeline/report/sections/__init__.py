"""The report's sections, one a module."""
