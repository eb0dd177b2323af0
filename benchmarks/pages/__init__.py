"""Parts of the results pages: selected rows, tables, plots."""
