"""Titles of a bulk run that are worth a person's minute, queued, and a page to judge them."""
