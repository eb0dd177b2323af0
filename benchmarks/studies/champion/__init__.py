"""The champion on vacancy titles: without the board's data, with its titles, with its labels."""
